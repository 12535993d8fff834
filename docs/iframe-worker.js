// Opened from the disk, a page may start no worker, which the search is: an iframe does its work there.
if (location.protocol === "file:") {
  const inside = `
    var importScripts = (...files) =>
      files.reduce(
        (before, file) =>
          before.then(
            () =>
              new Promise((done, failed) => {
                const script = document.createElement("script");
                Object.assign(script, { src: file, onload: done, onerror: failed });
                document.body.append(script);
              }),
          ),
        Promise.resolve(),
      );
    var postMessage = (data) => frameElement.worker.dispatchEvent(new MessageEvent("message", { data }));`;

  window.Worker = class extends EventTarget {
    constructor(file) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.worker = this;
      frame.srcdoc = `<body><script>${inside}</script><script src="${file}"></script></body>`;
      this.frame = new Promise((done) => frame.addEventListener("load", () => done(frame)));
      document.documentElement.append(frame);
    }

    postMessage(data) {
      this.frame.then((frame) => frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.then((frame) => frame.remove());
    }
  };
}
