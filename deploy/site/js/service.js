// Service worker: keeps the site for visits offline. VERSION and FILES stand before this text.

const own = `site-${VERSION}`;

self.addEventListener("install", (event) => {
  // A packed part whose name is the same is the same, so a new version fetches only new parts.
  const keep = async () => {
    const cache = await caches.open(own);
    const keepOne = async (file) => {
      const kept = file.startsWith("parts/") && (await caches.match(new URL(file, self.registration.scope)));
      return kept ? cache.put(file, kept) : cache.add(file);
    };
    await Promise.all(FILES.map(keepOne));
    await self.skipWaiting();
  };
  event.waitUntil(keep());
});

self.addEventListener("activate", (event) => {
  const forget = async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith("site-") && name !== own);
    await Promise.all(old.map((name) => caches.delete(name)));
    await self.clients.claim();
  };
  event.waitUntil(forget());
});

self.addEventListener("fetch", (event) => {
  const answer = async () =>
    (await (await caches.open(own)).match(event.request, { ignoreSearch: true })) ?? fetch(event.request);
  if (event.request.method === "GET") event.respondWith(answer());
});
