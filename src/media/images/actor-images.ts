// Avatars and banners: from an uploaded image, validated by its content, cropped to each size and encoded again in its own format, so that
// no metadata (place, camera, author) remains. Small animations stay animated.

import type { Sharp } from 'sharp'
import type { EncodedImage, ImageSize } from './images.ts'
import { DECODE_SECONDS, type ImageFormat, loadSharp, readImage, withTypedErrors } from './sharp.ts'

export interface ActorImageFile extends EncodedImage {
  /** With its dot. */
  extension: string
}

const EXTENSIONS: Record<ImageFormat, string> = { jpeg: '.jpg', png: '.png', webp: '.webp', gif: '.gif' }
const QUALITY = 85
/** px in total: more than phone cameras make. For an animation all frames count; if it exceeds the limit, only its first frame is used. */
const MAX_PIXELS = 50_000_000
/**
 * px of all frames that one size may have, as GIFs are slow to encode. A larger size shows the first frame: the largest ones do, while
 * those in lists stay animated.
 */
const MAX_ENCODED_PIXELS = 1_000_000

/** px of a side that suffice for every size. */
const coverOf = (sizes: readonly ImageSize[]): number => Math.max(...sizes.flatMap(({ width, height }) => [width, height]))

/** One image per size. Throws MediaError `not-media`, `unreadable` or `too-large`. */
export async function fitActorImage(path: string, sizes: readonly ImageSize[]): Promise<ActorImageFile[]> {
  const { bytes: input, format } = await readImage(path)
  const sharp = await loadSharp()
  return await withTypedErrors(async () => {
    const bounds = { limitInputPixels: MAX_PIXELS, failOn: 'error', sequentialRead: true } as const
    const { width = 0, height = 0, pages = 1 } = await sharp(input, bounds).metadata()
    const canMove = pages > 1 && pages * width * height <= MAX_PIXELS
    const crop = (from: Sharp, size: ImageSize): Sharp =>
      from.timeout({ seconds: DECODE_SECONDS }).resize(size.width, size.height, { fit: 'cover' })
    // The original is decoded once; all sizes are made from a copy that is slightly larger than the largest.
    const still = await sharp(input, bounds)
      .timeout({ seconds: DECODE_SECONDS })
      .autoOrient()
      .resize(coverOf(sizes), coverOf(sizes), { fit: 'outside', withoutEnlargement: true })
      .raw()
      .toBuffer({ resolveWithObject: true })
    const { width: w, height: h, channels } = still.info
    const images: ActorImageFile[] = []
    for (const size of sizes) {
      const animated = canMove && pages * size.width * size.height <= MAX_ENCODED_PIXELS
      // For a single frame PNG is smaller, faster and has all colours.
      const target = format === 'gif' && !animated ? 'png' : format
      const from = animated
        ? sharp(input, { ...bounds, animated }).autoOrient()
        : sharp(still.data, { raw: { width: w, height: h, channels } })
      const bytes = await crop(from, size)
        .toFormat(target, target === 'jpeg' || target === 'webp' ? { quality: QUALITY } : {})
        .toBuffer()
      images.push({ width: size.width, height: size.height, bytes, extension: EXTENSIONS[target] })
    }
    return images
  })
}
