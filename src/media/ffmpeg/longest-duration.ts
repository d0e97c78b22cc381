// The longest plausible duration of a file by its size. A wrong duration is easy to write into a file, and may cost days to encode.

import { MediaError } from '../errors.ts'

/** Bytes per second: a fraction of what a silent black picture takes. */
const FEWEST_BYTES = 10
/** Seconds that a few still pictures may last. */
const ALWAYS = 3600

/** Seconds. `bytes` are those of the whole file. */
export const longestDuration = (bytes: number): number => Math.max(ALWAYS, bytes / FEWEST_BYTES)

export const tooLong = (): MediaError => new MediaError('too-long', 'The times in the file are far longer than what it holds.')
