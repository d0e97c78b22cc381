// The addresses of the local tracker.

import type { Trackers } from '../../media/index.ts'

/** For the public origin of this server, such as `https://tube.example`. */
export const trackersOf = (origin: string): Trackers => ({
  http: `${origin}/tracker/announce`,
  webSocket: `${origin.replace(/^http/, 'ws')}/tracker/socket`,
})
