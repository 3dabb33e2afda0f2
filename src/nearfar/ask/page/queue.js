// Answers on their way to the server. Each has an id made here and is kept in IndexedDB until the server has confirmed
// it, so a reload, a closed tab or a lost network loses nothing, and sending twice saves once.
const FIRST_WAIT = 500; // milliseconds
const LONGEST_WAIT = 15000;
const AT_ONCE = 20;

export class Queue {
  // send(answers) resolves to {saved, refused} or throws an error with `status`; tell(state) hears about changes
  constructor(name, send, tell) {
    Object.assign(this, { name, send, tell, waiting: new Map(), base: null, pumping: false, sent: false, wait: FIRST_WAIT, timer: 0 });
    addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.hurry(); });
  }

  async open() {
    try {
      this.base = await opened(this.name);
      for (const answer of await all(this.base)) this.waiting.set(answer.id, answer);
    } catch {
      this.base = null; // a browser that keeps nothing: answers wait in memory
    }
    this.hurry();
  }

  async add(answer) {
    this.waiting.set(answer.id, answer);
    this.tell("saving");
    try { await change(this.base, (store) => store.put(answer)); } catch { /* it is in memory */ }
    this.hurry();
  }

  places() {
    return new Set([...this.waiting.values()].map((answer) => answer.place));
  }

  pages() {
    return [...this.waiting.values()].map((answer) => answer.page).filter(Boolean);
  }

  get empty() { return this.waiting.size === 0; }

  hurry() {
    this.wait = FIRST_WAIT;
    clearTimeout(this.timer);
    this.pump();
  }

  async pump() {
    if (this.pumping) return;
    this.pumping = true;
    let failed = null;
    try {
      while (this.waiting.size && !failed) {
        const batch = [...this.waiting.values()].slice(0, AT_ONCE);
        try {
          const told = await this.send(batch);
          this.sent = true;
          const settled = [...told.saved, ...told.refused.map((one) => one.id)];
          for (const id of settled) this.waiting.delete(id);
          try { await change(this.base, (store) => settled.forEach((id) => store.delete(id))); } catch { /* sent again later, saved once */ }
          this.wait = FIRST_WAIT;
          if (!settled.length) failed = new Error("nothing was settled");
        } catch (error) { failed = error; }
      }
    } finally { this.pumping = false; }
    if (failed) {
      this.tell(failed.status ? "trouble" : "waiting");
      this.timer = setTimeout(() => this.pump(), this.wait * (0.75 + Math.random() / 2));
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
    } else if (this.sent) this.tell("saved");
  }
}

function opened(name) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore("answers", { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("blocked"));
  });
}

function all(base) {
  return new Promise((resolve, reject) => {
    const request = base.transaction("answers").objectStore("answers").getAll();
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function change(base, act) {
  if (!base) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const transaction = base.transaction("answers", "readwrite", { durability: "strict" });
    transaction.oncomplete = () => resolve();
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
    act(transaction.objectStore("answers"));
  });
}
