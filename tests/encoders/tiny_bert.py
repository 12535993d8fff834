"""A folder of Hugging Face with a BERT of two layers and random weights."""

import json

import torch
from safetensors.torch import save_file

VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "play",
    "##ing",
    "##s",
    "cat",
    "sat",
    "!",
    "cafe",
    "日",
]
CONFIG = {
    "model_type": "bert",
    "vocab_size": len(VOCABULARY),
    "max_position_embeddings": 12,
    "hidden_size": 8,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "layer_norm_eps": 1e-5,
}


def weights():
    rng = torch.Generator().manual_seed(0)
    width, inner = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    found = {
        "embeddings.word_embeddings.weight": torch.randn(len(VOCABULARY), width, generator=rng),
        "embeddings.position_embeddings.weight": torch.randn(12, width, generator=rng),
        "embeddings.token_type_embeddings.weight": torch.randn(2, width, generator=rng),
    }
    norms = ["embeddings.LayerNorm"]
    for number in range(CONFIG["num_hidden_layers"]):
        at = f"encoder.layer.{number}"
        for part in (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
        ):
            found[f"{at}.{part}.weight"] = torch.randn(width, width, generator=rng)
            found[f"{at}.{part}.bias"] = torch.randn(width, generator=rng)
        found[f"{at}.intermediate.dense.weight"] = torch.randn(inner, width, generator=rng)
        found[f"{at}.intermediate.dense.bias"] = torch.randn(inner, generator=rng)
        found[f"{at}.output.dense.weight"] = torch.randn(width, inner, generator=rng)
        found[f"{at}.output.dense.bias"] = torch.randn(width, generator=rng)
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
    for norm in norms:
        found[f"{norm}.weight"] = 1 + 0.1 * torch.randn(width, generator=rng)
        found[f"{norm}.bias"] = 0.1 * torch.randn(width, generator=rng)
    return found


def write(folder, *, prefix="", **changes):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG | changes))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), "utf-8")
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    save_file({prefix + name: tensor for name, tensor in weights().items()}, folder / "model.safetensors")
    return folder
