// Square PNG icons of exactly one size, from drawings (SVG) and stored pictures.

import { DECODE_SECONDS, loadSharp, MAX_PIXELS, withTypedErrors } from './sharp.ts'

/** px at which a drawing of 96 dpi is as wide as its viewBox. */
const DPI = 96

/**
 * `size`: px of a side. Drawings are rendered at that size, not enlarged. Only for pictures of this server, since they are not validated.
 * Throws MediaError `unreadable` or `too-large`.
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
