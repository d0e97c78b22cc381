// Images: icons, banners, thumbnails.

import { z } from 'zod'
import type { JsonObject } from './context.ts'
import { BOUNDS, hrefOf, httpUrl, listOf, optionalCount, optionalText } from './read.ts'

export interface ImageDocument {
  url: string
  mediaType: string | null
  /** px */
  width: number | null
  height: number | null
}

const image = z.preprocess(
  (value) => (typeof value === 'string' ? { url: value } : value),
  z.object({
    url: z.preprocess(hrefOf, httpUrl),
    mediaType: optionalText(100),
    width: optionalCount,
    height: optionalCount,
  }),
)

export const images = listOf<ImageDocument>(image, BOUNDS.images)

/** An actor's images have the size before the address, a video's after it; the order has no meaning. */
export function buildImage(input: ImageDocument): JsonObject {
  return {
    type: 'Image',
    url: input.url,
    ...(input.mediaType === null ? {} : { mediaType: input.mediaType }),
    ...(input.width === null ? {} : { width: input.width }),
    ...(input.height === null ? {} : { height: input.height }),
  }
}
