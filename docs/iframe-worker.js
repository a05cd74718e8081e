// Search without a server. Browsers start no worker from a file: there it runs in a hidden frame.
// The site's theme looks for this name.
class IFrameWorker extends EventTarget {
  #frame = document.createElement("iframe");
  #waiting = [];

  constructor(address) {
    super();
    this.#frame.hidden = true;
    document.body.append(this.#frame);
    const inside = this.#frame.contentWindow;
    inside.document.open();
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = inside.document.createElement("script");
    script.src = address;
    script.onload = () => this.#deliver();
    inside.document.write("<html><body></body></html>");
    inside.document.body.append(script);
    inside.document.close();
  }

  postMessage(data) {
    this.#waiting.push(data);
    if (this.loaded) this.#deliver();
  }

  #deliver() {
    this.loaded = true;
    const inside = this.#frame.contentWindow;
    for (const data of this.#waiting.splice(0)) {
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
  }
}

if (location.protocol === "file:") {
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
