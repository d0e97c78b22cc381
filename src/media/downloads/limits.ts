// Limits of download programs.

import type { Config } from '../../config/index.ts'

/** Far more than any of them needs. */
const MAX_BYTES = 1024 ** 3

/** Maximum memory of a program and its children, in bytes. */
export const maxMemoryOf = ({ vireo }: Pick<Config, 'vireo'>): number => Math.min(MAX_BYTES, vireo.media.max_memory)
