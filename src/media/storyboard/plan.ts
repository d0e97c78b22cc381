// Plans a storyboard: the moments, their size, and their arrangement on one picture. Pure.

import type { ImageSize } from '../images/images.ts'

export interface StoryboardPlan {
  /** px of one moment. */
  sprite: ImageSize
  /** Whole seconds per sprite. */
  spriteDuration: number
  /** Sprites, in rows from left to right. */
  count: number
  columns: number
  rows: number
  /** True if key frames suffice, so that no others are decoded. */
  keyFramesOnly: boolean
}

/** limits.json, images.storyboard. */
const MAX_SPRITES_PER_EDGE = 11
const SPRITE_MAX_SIZE = 192
const MAX_SPRITES = MAX_SPRITES_PER_EDGE ** 2
/** Bytes of a pixel in RGB. */
const DEPTH = 3

/**
 * `duration` in seconds, `width` and `height` in px as displayed. There is a sprite per second, or per as many seconds as keep their number
 * within the limit. With one per second the video is so short that it can be decoded whole: its key frames may be further apart.
 */
export function planStoryboard({ duration, width, height }: ImageSize & { duration: number }): StoryboardPlan {
  const length = Math.max(1, duration)
  const spriteDuration = Math.ceil(length / MAX_SPRITES)
  const count = Math.ceil(length / spriteDuration)
  const columns = Math.min(count, MAX_SPRITES_PER_EDGE)
  const scale = SPRITE_MAX_SIZE / Math.max(width, height)
  return {
    sprite: { width: scaled(width, scale), height: scaled(height, scale) },
    spriteDuration,
    count,
    columns,
    rows: Math.ceil(count / columns),
    keyFramesOnly: spriteDuration > 1,
  }
}

const scaled = (side: number, scale: number): number => Math.max(1, Math.round(side * scale))

const spriteBytes = ({ sprite }: StoryboardPlan): number => sprite.width * sprite.height * DEPTH

export const totalSize = ({ sprite, columns, rows }: StoryboardPlan): ImageSize => ({
  width: sprite.width * columns,
  height: sprite.height * rows,
})

/**
 * Arranges consecutive RGB frames in a grid. If the file ends early, and at the end of the last row, the last frame is repeated. Undefined
 * without a complete frame.
 */
export function arrangeSprites(frames: Buffer, plan: StoryboardPlan): Buffer | undefined {
  const size = spriteBytes(plan)
  const last = Math.min(plan.count, Math.floor(frames.length / size)) - 1
  if (last < 0) return undefined
  const { sprite, columns, rows } = plan
  const line = sprite.width * DEPTH
  const picture = Buffer.alloc(size * columns * rows)
  for (let cell = 0; cell < columns * rows; cell += 1) {
    const from = Math.min(cell, last) * size
    const to = Math.floor(cell / columns) * size * columns + (cell % columns) * line
    for (let y = 0; y < sprite.height; y += 1) {
      frames.copy(picture, to + y * line * columns, from + y * line, from + (y + 1) * line)
    }
  }
  return picture
}
