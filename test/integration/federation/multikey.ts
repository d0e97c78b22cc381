// Which algorithm a Multikey is of.

import { importMultibaseKey } from '@fedify/vocab-runtime'

export const fromMultikey = async (multibase: string): Promise<string> => (await importMultibaseKey(multibase)).algorithm.name
