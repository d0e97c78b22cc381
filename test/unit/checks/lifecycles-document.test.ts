// docs/lifecycles.md is generated from the machines.

import { readFile } from 'node:fs/promises'
import { expect, it } from '@jest/globals'
import { lifecyclesDocument } from '../../../scripts/lifecycles-document.ts'
import { loadMachines } from '../../../scripts/machines.ts'

it('docs/lifecycles.md is up to date (else run `npm run docs`)', async () => {
  const written = await readFile(new URL('../../../docs/lifecycles.md', import.meta.url), 'utf8')
  expect(written).toBe(await lifecyclesDocument())
})

it('docs/lifecycles.md has a section for each machine', async () => {
  const document = await lifecyclesDocument()
  const machines = await loadMachines()
  expect(machines.length).toBeGreaterThanOrEqual(8)
  for (const { name } of machines) expect(document).toContain(`\n## ${name}\n`)
})
