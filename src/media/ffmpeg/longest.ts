// How long a file of so many bytes may be. A time costs nothing to write into a file, and may cost days to encode.

import { MediaError } from '../errors.ts'

/** Bytes of a second: a fraction of what a black picture takes that nobody speaks to. */
const FEWEST_BYTES = 10
/** Seconds that a few still pictures may be shown for. */
const ALWAYS = 3600

/** Seconds. `bytes` are those of the whole file. */
export const longestOf = (bytes: number): number => Math.max(ALWAYS, bytes / FEWEST_BYTES)

export const tooLong = (): MediaError => new MediaError('too-long', 'The times in the file are far longer than what it holds.')
