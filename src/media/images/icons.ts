// Square pictures of exactly one size, as PNG: icons of drawings (SVG) and of pictures that were stored.

import { DECODE_SECONDS, loadSharp, MAX_PIXELS, withTypedErrors } from './sharp.ts'

/** px at which a drawing of 96 dpi is as wide as its viewBox says. */
const DPI = 96

/**
 * `size`: px of a side. Drawings are drawn at that size and not blown up. Only for pictures of this server: they are not looked at
 * before. Throws MediaError `unreadable` or `too-large`.
 */
export async function renderIcon(picture: Uint8Array, size: number): Promise<Buffer> {
  const sharp = await loadSharp()
  return await withTypedErrors(async () => {
    const bounds = { limitInputPixels: MAX_PIXELS, failOn: 'error' } as const
    const { format, width = size } = await sharp(picture, bounds).metadata()
    const density = format === 'svg' ? Math.min(2400, Math.max(1, Math.ceil((DPI * size) / width))) : undefined
    return await sharp(picture, { ...bounds, ...(density ? { density } : {}) })
      .timeout({ seconds: DECODE_SECONDS })
      .resize(size, size, { fit: 'cover' })
      .png({ compressionLevel: 9 })
      .toBuffer()
  })
}
