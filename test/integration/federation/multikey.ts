// The algorithm of a Multikey.

import { importMultibaseKey } from '@fedify/vocab-runtime'

export const fromMultikey = async (multibase: string): Promise<string> => (await importMultibaseKey(multibase)).algorithm.name
