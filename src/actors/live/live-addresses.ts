// Where streams are taken.

import type { Config } from '../../config/index.ts'

export type LiveAddresses = ReturnType<typeof liveAddresses>

/** The addresses that publishers stream to, and runners play from; null for a protocol that is not accepted. */
export function liveAddresses({ live: { rtmp, rtmps }, webserver }: Pick<Config, 'live' | 'webserver'>) {
  const address = (scheme: string, { public_hostname, port }: typeof rtmp) =>
    `${scheme}://${public_hostname ?? webserver.hostname}:${port}/live`
  return { rtmpUrl: rtmp.enabled ? address('rtmp', rtmp) : null, rtmpsUrl: rtmps.enabled ? address('rtmps', rtmps) : null }
}
