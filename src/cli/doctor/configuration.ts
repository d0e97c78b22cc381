// The configuration: warnings of the loader, and the secret that seals the keys.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Check, sentence, USUAL_LIMIT } from './check.ts'

export const configurationCheck: Check = {
  name: 'configuration',
  limit: USUAL_LIMIT,
  async run({ loaded }, say) {
    for (const warning of loaded.warnings) say.warning(sentence(warning), 'Mend that key.')
    if (loaded.warnings.length === 0) say.ok(`The configuration is valid (${loaded.sources.join(', ')}).`)
  },
}

export const secretCheck: Check = {
  name: 'secret',
  limit: USUAL_LIMIT,
  async run({ loaded: { config, dataDir } }, say) {
    if (config.secrets.peertube !== '') return say.ok('The secret is in the configuration: back that up.')
    const file = join(dataDir, 'secret.key')
    const found = await stat(file).catch(() => undefined)
    if (!found) return say.ok(`The first start makes the secret in ${file}.`)
    if (found.size === 0) return say.problem(`${file} is empty.`, 'Restore it from the backup.')
    if ((found.mode & 0o077) !== 0) {
      say.problem(`Others on this machine can read ${file}.`, `Run \`chmod 600 ${file}\`.`)
    } else say.ok(`${file} is for its owner only.`)
    say.ok(`Back ${file} up with the database: without it no key in there can be used.`)
  },
}
