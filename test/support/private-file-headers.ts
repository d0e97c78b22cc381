// The headers that keep private files out of caches.

export const PRIVATE_FILE = {
  'cache-control': 'public, max-age=0',
  'cdn-cache-control': 'no-store',
  'surrogate-control': 'no-store',
  'x-accel-expires': '0',
  vary: 'Authorization, Cookie, X-PeerTube-Video-Password',
}
