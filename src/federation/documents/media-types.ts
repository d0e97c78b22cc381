// Media types by file extension.

const IMAGES: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.gif': 'image/gif',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
}

const FILES: Readonly<Record<string, string>> = {
  '.m4a': 'audio/mp4',
  '.mkv': 'video/x-matroska',
  '.mp3': 'audio/mpeg',
  '.mov': 'video/quicktime',
  '.mp4': 'video/mp4',
  '.ogg': 'video/ogg',
  '.ogv': 'video/ogg',
  '.webm': 'video/webm',
}

/** Null if the extension is unknown. */
export const imageType = (filename: string): string | null => IMAGES[extensionOf(filename)] ?? null

/** Media type of a video file; by default MP4, the output format of the encoder. */
export const videoType = (extension: string): string => FILES[extension.toLowerCase()] ?? 'video/mp4'

const extensionOf = (filename: string): string => /\.[a-z0-9]+$/i.exec(filename)?.[0].toLowerCase() ?? ''
