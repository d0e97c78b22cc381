// `npm run docs`: writes the documents that are generated from the code, so that they cannot drift.

import { mkdir, writeFile } from 'node:fs/promises'
import { describeConfig } from '../src/config/index.ts'
import { lifecyclesDocument } from './lifecycles-document.ts'

const documents = { 'lifecycles.md': await lifecyclesDocument(), 'configuration.md': describeConfig() }

const folder = new URL('../docs/', import.meta.url)
await mkdir(folder, { recursive: true })
for (const [file, text] of Object.entries(documents)) {
  await writeFile(new URL(file, folder), text)
  console.log(`wrote docs/${file}`)
}
