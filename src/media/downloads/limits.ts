// What the programs that download may use.

import type { Config } from '../../config/index.ts'

/** Far more than any of them needs. */
const MOST_BYTES = 1024 ** 3

/** Bytes of memory of a program with all that it starts. */
export const maxMemoryOf = ({ vireo }: Pick<Config, 'vireo'>): number => Math.min(MOST_BYTES, vireo.media.max_memory)
