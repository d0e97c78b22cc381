// The names of downloads: in addresses, and for saving.

/** Properties that distinguish a file from the others of its video. */
export interface NamedFile {
  uuid: string
  /** Short side in px, 0 for sound alone. */
  resolution: number
  /** With its dot. */
  extname: string
}

const NAME = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})-(\d{1,5})(-fragmented)?(\.[a-z\d]{1,10})$/i

/**
 * For a route: matches all but plain names such as `video.mp4`, which no file has. Those are like any unknown address, for which the
 * reference shows a page (`notFoundKind`). Without groups, which route parameters do not support.
 */
export const NO_PLAIN_NAME = '^.*[^a-zA-Z\\d_.].*$|^.{60,}$'

/** Reads `{uuid}-{resolution}.{ext}`, or `{uuid}-{resolution}-fragmented.{ext}` of an HLS file. */
export function readDownloadName(filename: string, options: { hls: boolean }): NamedFile | undefined {
  const [, uuid, resolution, fragmented, extname] = NAME.exec(filename) ?? []
  if (uuid === undefined || extname === undefined || (fragmented !== undefined) !== options.hls) return undefined
  return { uuid: uuid.toLowerCase(), resolution: Number(resolution), extname }
}

/** The file name for saving. */
export function savedName(file: { video: string; resolution: number; hls: boolean }, extname: string): string {
  return `${file.video}-${file.resolution}p${file.hls ? '-hls' : ''}${extname}`
}

const LONGEST = 180

/**
 * Content-Disposition of a download (RFC 6266): with an ASCII name for old clients, and with the full name (RFC 8187) if it differs. A name
 * cannot contain a folder, hide its extension or look like another one.
 */
export function attachment(name: string): string {
  const clean = name
    .toWellFormed()
    .replaceAll(/\p{C}/gu, '')
    .replaceAll(/["/\\:*?<>|]/g, '_')
    .replace(/^[\s.]+/, '')
    .trim()
  const short = shortened(clean === '' ? 'file' : clean)
  const ascii = short.replaceAll(/[^\x20-\x7e]|%/gu, '_')
  const plain = `attachment; filename="${ascii}"`
  return ascii === short ? plain : `${plain}; filename*=UTF-8''${encoded(short)}`
}

/** Cut in the middle, so that the extension stays. */
function shortened(name: string): string {
  const letters = [...name]
  if (letters.length <= LONGEST) return name
  const end = /(-\d+p(-hls)?)?\.[a-z\d]{1,10}$/i.exec(name)?.[0] ?? ''
  return letters.slice(0, LONGEST - end.length).join('') + end
}

const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*!]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
