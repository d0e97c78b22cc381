// Watermark pictures: validated on arrival, and resized for display.

import type { ImageSize } from '../images/images.ts'
import { DECODE_SECONDS, loadSharp, MAX_PIXELS, readImage, withTypedErrors } from '../images/sharp.ts'

/** px of a picture as displayed. Throws MediaError `not-media`, `unreadable` or `too-large`. */
export async function measureWatermark(path: string): Promise<ImageSize> {
  const { bytes } = await readImage(path)
  const sharp = await loadSharp()
  const { autoOrient } = await withTypedErrors(async () => {
    const image = sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    const found = await image.metadata()
    // Decodes all of it, so that a truncated one is refused now and not when the video is made.
    await image.timeout({ seconds: DECODE_SECONDS }).stats()
    return found
  })
  return { width: autoOrient.width, height: autoOrient.height }
}

/** The picture in this size as PNG, with its transparency. Throws like `measureWatermark`. */
export async function renderWatermark(path: string, { width, height }: ImageSize): Promise<Buffer> {
  const { bytes } = await readImage(path)
  const sharp = await loadSharp()
  return await withTypedErrors(() =>
    sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', sequentialRead: true })
      .timeout({ seconds: DECODE_SECONDS })
      .autoOrient()
      .resize(width, height, { fit: 'fill' })
      .ensureAlpha()
      .toColourspace('srgb')
      .png()
      .toBuffer(),
  )
}
