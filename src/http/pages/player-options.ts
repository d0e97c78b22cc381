// The initial state of a player, from its address. The names are those of PeerTube's embeds.

import { z } from 'zod'

export type PlayerOptions = ReturnType<typeof playerOptions>

const LONGEST = 100
/** The first of several; invalid values are ignored. */
const word = z
  .preprocess((value) => (Array.isArray(value) ? value[0] : value), z.string().max(LONGEST))
  .optional()
  .catch(undefined)

/** `mode`, `p2p` and `warningTitle` are accepted without effect: there is one mode, without peers to warn of. */
export const playerQuery = z.object({
  start: word,
  stop: word,
  autoplay: word,
  loop: word,
  muted: word,
  controls: word,
  controlBar: word,
  title: word,
  peertubeLink: word,
  subtitle: word,
  bigPlayBackgroundColor: word,
  foregroundColor: word,
})

/** Times are in seconds; title and link are those above the picture of an embed. */
export function playerOptions(query: z.infer<typeof playerQuery>) {
  const stop = secondsOf(query.stop)
  return {
    start: secondsOf(query.start) ?? 0,
    /** Undefined: the end. */
    stop: stop === undefined || stop <= 0 ? undefined : stop,
    autoplay: isSet(query.autoplay, false),
    loop: isSet(query.loop, false),
    muted: isSet(query.muted, false),
    controls: isSet(query.controls, true) && isSet(query.controlBar, true),
    title: isSet(query.title, true),
    link: isSet(query.peertubeLink, true),
    /** Language of the initial caption. */
    subtitle: query.subtitle,
    play: colourOf(query.bigPlayBackgroundColor),
    foreground: colourOf(query.foregroundColor),
  }
}

const isSet = (text = '', otherwise: boolean): boolean => (otherwise ? !['0', 'false'].includes(text) : ['1', 'true'].includes(text))

/** `#rrggbb` or `#rgb`. */
const colourOf = (text = ''): string | undefined =>
  /^#?([\da-f]{3}|[\da-f]{6})$/i.test(text) ? `#${text.replace('#', '').toLowerCase()}` : undefined

const LATEST = 1_000_000

/** Seconds of `90`, `90s`, `1m30s`, `1h`, `1:30` and `1:02:03`; undefined for an invalid time. */
export function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const spelled = /^(?:(\d{1,5})h)?(?:(\d{1,5})m)?(?:(\d{1,7}(?:\.\d{1,3})?)s?)?$/i.exec(text)
  const parts = spelled ? spelled.slice(1) : /^(?:(\d{1,4}):)?(\d{1,4}):(\d{1,2})$/.exec(text)?.slice(1)
  if (!parts) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0))
  return Math.min(LATEST, hours * 3600 + minutes * 60 + seconds)
}
