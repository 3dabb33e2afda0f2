// Talking to the server: JSON both ways, the token in a header, patience where the network has none.
const PATIENCE = 15000; // milliseconds

export async function call(path, { token, body } = {}) {
  const headers = {};
  if (token) headers["X-Nearfar-Token"] = token;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    keepalive: body !== undefined,
    cache: "no-store",
    credentials: "omit",
    signal: AbortSignal.timeout(PATIENCE),
  });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw Object.assign(new Error(told.error || answer.statusText), { status: answer.status });
  return told;
}

// the same until it works, telling how it goes
export async function insist(path, options, tell) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 15000)) {
    try { return await call(path, options); } catch (error) {
      if (error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
      tell(error.status ? "trouble" : "waiting");
      await new Promise((done) => {
        const timer = setTimeout(done, wait);
        addEventListener("online", () => { clearTimeout(timer); done(); }, { once: true });
      });
    }
  }
}

// a token of 256 random bits, made here, so that asking to start twice starts once
export function newToken() {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const b = crypto.getRandomValues(new Uint8Array(16)); // where the page is not served by https
  b[6] = (b[6] & 15) | 64; b[8] = (b[8] & 63) | 128;
  const hex = [...b].map((x) => x.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export const kept = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* the recruiter's id brings people back */ } },
};
