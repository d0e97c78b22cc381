// Avatars and banners: from an uploaded image, checked by its content, cropped to each size and encoded anew in its own
// format, so that nothing of its metadata (place, camera, author) stays. Animations go on moving where they are small.

import type { EncodedImage, ImageSize } from './images.ts'
import { DECODE_SECONDS, type ImageFormat, loadSharp, MAX_PIXELS, readImage, withTypedErrors } from './sharp.ts'

export interface ActorImageFile extends EncodedImage {
  /** With its dot. */
  extension: string
}

const EXTENSIONS: Record<ImageFormat, string> = { jpeg: '.jpg', png: '.png', webp: '.webp', gif: '.gif' }
const QUALITY = 85
/** px of all frames together that an animation may have; of a longer one the first frame counts. */
const MAX_ANIMATED_PIXELS = 40_000_000
/**
 * px of all frames together that one size may have, as GIFs are slow to encode. A size that would have more shows the
 * first frame: the largest ones do, while those that lists show go on moving.
 */
const MAX_ENCODED_PIXELS = 1_000_000

/** One image for each size. Throws MediaError `not-media`, `unreadable` or `too-large`. */
export async function fitActorImage(path: string, sizes: readonly ImageSize[]): Promise<ActorImageFile[]> {
  const { bytes: input, format } = await readImage(path)
  const sharp = await loadSharp()
  return await withTypedErrors(async () => {
    const { width = 0, height = 0, pages = 1 } = await sharp(input, { limitInputPixels: MAX_PIXELS }).metadata()
    const canMove = pages > 1 && pages * width * height <= MAX_ANIMATED_PIXELS
    const images: ActorImageFile[] = []
    for (const size of sizes) {
      const animated = canMove && pages * size.width * size.height <= MAX_ENCODED_PIXELS
      // For one frame PNG is smaller, faster and has all colours.
      const target = format === 'gif' && !animated ? 'png' : format
      const bytes = await sharp(input, { limitInputPixels: MAX_PIXELS, failOn: 'error', animated })
        .timeout({ seconds: DECODE_SECONDS })
        .autoOrient()
        .resize(size.width, size.height, { fit: 'cover' })
        .toFormat(target, target === 'jpeg' || target === 'webp' ? { quality: QUALITY } : {})
        .toBuffer()
      images.push({ width: size.width, height: size.height, bytes, extension: EXTENSIONS[target] })
    }
    return images
  })
}
