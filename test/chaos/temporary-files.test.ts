// Temporary files of a killed process, of every job: the next process of the server removes them, but no files of running processes.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { leaseOwner } from '../../src/actors/runtime/lease.ts'
import { workFolder, workKinds } from '../../src/actors/video/files/work-folders.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { run } from '../support/postgres.ts'
import { eventually } from '../support/until.ts'

let node: TestNode
let storage: string
beforeAll(async () => {
  node = await startTestNode({ config: { transcoding: { enabled: false } } })
  storage = join(node.dataDir, 'storage')
})
afterAll(async () => {
  await node?.stop()
})

/** All work folders and their files, and all partial files. */
async function left(): Promise<string[]> {
  const entries = await readdir(storage, { recursive: true, withFileTypes: true })
  return entries
    .map((entry) => join(entry.parentPath, entry.name).slice(storage.length + 1))
    .filter((path) => /^tmp\//.test(path) || /\.incoming\//.test(path))
    .sort()
}

it('removes work folders of every job and partial files of every place at the next start', async () => {
  const dying = spawn(process.execPath, ['--input-type=module', '--eval', program()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface({ input: dying.stdout }), 'line')) as [string]
  const { names, places } = JSON.parse(line) as { names: string[]; places: number }
  const onTheirWay = async () => (await left()).filter((path) => path.includes('.incoming/'))
  await eventually(async () => expect(await onTheirWay()).toHaveLength(places))
  expect(places).toBeGreaterThanOrEqual(10)
  dying.kill('SIGKILL')
  await once(dying, 'close')

  // Another running process uses the same disk, and has recorded its work.
  const living = workFolder('studio', 'of-a-living-process')
  await mkdir(join(storage, 'tmp', living.name), { recursive: true })
  await writeFile(join(storage, 'tmp', living.name, 'half'), 'half')
  await run(
    node.databaseUrl,
    `insert into pending_file (kind, name, folder, owner, created_at)
     values ('tmp', '${living.name}', true, '${leaseOwner()}', now())`,
  )
  const kept = [`tmp/${living.name}`, `tmp/${living.name}/half`]

  const before = await left()
  for (const name of names) expect(before).toContain(`tmp/${name}/half`)
  expect(names).toHaveLength(workKinds.length * 2)
  expect(await onTheirWay()).toHaveLength(places)

  await node.restart()
  await eventually(async () => expect(await left()).toEqual(kept))
})

/** Works like the jobs, and waits to be killed: each work folder once with and once without its record, each place with half a file. */
function program(): string {
  const from = (path: string) => JSON.stringify(new URL(`../../${path}`, import.meta.url).href)
  return `
    import { writeFile } from 'node:fs/promises'
    import { join } from 'node:path'
    import { Readable } from 'node:stream'
    import { leaseOwner } from ${from('src/actors/runtime/lease.ts')}
    import { workFolder, workKinds } from ${from('src/actors/video/files/work-folders.ts')}
    import { openStore } from ${from('src/connections.ts')}
    import { fileKinds } from ${from('src/media/index.ts')}
    import { testLoadedConfig } from ${from('test/support/config.ts')}
    import { run } from ${from('test/support/postgres.ts')}

    const { config } = testLoadedConfig({}, { dataDir: ${JSON.stringify(node.dataDir)} })
    const owner = leaseOwner()
    const { store } = openStore(config, owner)
    const names = []
    for (const kind of workKinds) {
      for (const id of ['noted', 'not-noted']) {
        const { name } = workFolder(kind, id)
        if (id === 'noted') {
          await run(${JSON.stringify(node.databaseUrl)}, \`insert into pending_file (kind, name, folder, owner, created_at)
            values ('tmp', '\${name}', true, '\${owner}', now())\`)
        }
        await writeFile(join(await store.workFolder(name), 'half'), 'half')
        names.push(name)
      }
    }
    const places = fileKinds.filter((kind) => kind !== 'tmp')
    for (const kind of places) {
      const half = new Readable({ read() {} })
      half.push('half')
      void store.put({ kind, name: 'half.mp4' }, half)
    }
    console.log(JSON.stringify({ names, places: places.length }))
    setInterval(() => {}, 1000)
  `
}
