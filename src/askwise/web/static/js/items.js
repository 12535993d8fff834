/** What an item shows, fetched once and kept for as long as it may be needed. */

import { blob, get } from "./api.js";

const KEPT = 240; // pictures in memory, small ones included

/** The pictures and texts of one project. */
export class Items {
  kind; // image, text or row
  #kept = new Map();

  constructor(kind) {
    this.kind = kind;
  }

  /** A promise of {image} | {text} | {row} | {trouble}; `item` is a question or another record of an item. */
  content(item) {
    const kind = item.kind ?? this.kind;
    if (kind === "image") return this.#once(`${item.item} large`, () => this.#picture(item, 1024));
    if (item.row) return Promise.resolve({ row: item.row });
    if (typeof item.text === "string") return Promise.resolve({ text: item.text });
    return this.#once(item.item, () => get(`/api/items/${encodeURIComponent(item.item)}/text`));
  }

  /** A promise of a small form of the same. */
  small(item, width = 160) {
    if ((item.kind ?? this.kind) !== "image") return this.content(item);
    return this.#once(`${item.item} ${width}`, () => this.#picture(item, width));
  }

  /** A promise of a picture with more pixels, for a close look; it is not kept. */
  sharp(item) {
    return this.#picture(item, 2048);
  }

  async #picture(item, width) {
    const data = await blob(`/api/items/${encodeURIComponent(item.item)}/image?w=${width}`);
    const image = new Image();
    image.draggable = false;
    image.src = URL.createObjectURL(data);
    await image.decode();
    return { image };
  }

  async #once(key, load) {
    let found = this.#kept.get(key);
    if (!found) {
      found = load();
      found.catch(() => this.#kept.delete(key)); // a picture that failed is asked for again
    }
    this.#kept.delete(key);
    this.#kept.set(key, found); // the latest used last
    this.#tidy();
    try {
      return await found;
    } catch (error) {
      return { trouble: error.message };
    }
  }

  #tidy() {
    for (const [key, found] of this.#kept) {
      if (this.#kept.size <= KEPT) return;
      this.#kept.delete(key);
      found.then(
        ({ image }) => image?.isConnected || (image && URL.revokeObjectURL(image.src)),
        () => {},
      );
    }
  }
}
