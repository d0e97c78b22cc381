// Wraps the image library: loaded on first use, called with bytes of a validated type, with typed errors.

import { readFile } from 'node:fs/promises'
import { fileTypeFromBuffer } from 'file-type'
import { MediaError, messageOf } from '../errors.ts'

const ACCEPTED = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
} as const

export type ImageFormat = (typeof ACCEPTED)[keyof typeof ACCEPTED]

/** px in all: more than any camera makes, and far less than a bomb needs. */
export const MAX_PIXELS = 120_000_000
export const DECODE_SECONDS = 20

/** The library and its native part use memory that an idle server should not. */
export async function loadSharp() {
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp
}

/** The bytes of an image and its format, by its content. Throws MediaError `not-media`. */
export async function readImage(path: string): Promise<{ bytes: Buffer; format: ImageFormat }> {
  // Read first: the decoder then never sees a path, whose extension or later change could mislead it.
  const bytes = await readFile(path)
  const type = await fileTypeFromBuffer(bytes).catch(() => undefined)
  const format = type && Object.entries(ACCEPTED).find(([mime]) => mime === type.mime)?.[1]
  if (!format) throw new MediaError('not-media', 'The file is not a PNG, JPEG, WebP or GIF image.')
  return { bytes, format }
}

/** Decodes or encodes. Throws MediaError `unreadable` or `too-large`. */
export async function withTypedErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (/pixel limit/i.test(messageOf(error))) {
      throw new MediaError('too-large', 'The image has too many pixels.', { cause: error })
    }
    throw new MediaError('unreadable', 'The image cannot be read.', { cause: error })
  }
}
