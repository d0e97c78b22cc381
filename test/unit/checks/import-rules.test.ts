// The import rules of the tree: a wrong import fails `npm run check`, a right one passes.

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')

const wrong: Array<[file: string, specifier: string]> = [
  ['state-machines/a.ts', 'node:fs'],
  ['state-machines/b.ts', '../platform/clock.ts'],
  ['platform/a.ts', '../config/index.ts'],
  ['platform/b.ts', '../actors/video/index.ts'],
  ['platform/c.ts', '@mikro-orm/postgresql'],
  ['platform/fetch/d.ts', 'bullmq'],
  ['platform/queue/e.ts', '@mikro-orm/core'],
  ['config/a.ts', '../actors/runtime/index.ts'],
  ['media/a.ts', '../actors/video/index.ts'],
  ['media/store/b.ts', 'fluent-ffmpeg'],
  ['media/c.ts', '../http/app.ts'],
  ['actors/video/a.ts', '../../http/app.ts'],
  ['actors/video/b.ts', '../../federation/wire/video.ts'],
  ['actors/video/c.ts', '../follow/follow.commands.ts'],
  ['actors/video/files/c.ts', '../../follow/follow.commands.ts'],
  ['actors/video/d.ts', 'fastify'],
  ['actors/video/e.ts', '@fedify/fedify/sig'],
  ['actors/video/f.ts', '../../compose.ts'],
  ['http/g.ts', '../compose/http.ts'],
  ['federation/inbound/a.ts', '../../http/app.ts'],
  ['federation/inbound/b.ts', '../../media/index.ts'],
  ['federation/inbound/c.ts', '../../actors/follow/follow.commands.ts'],
  ['federation/d.ts', '../state-machines/follow.ts'],
  ['federation/e.ts', 'bullmq'],
  ['http/videos/a.ts', '../../federation/index.ts'],
  ['http/videos/b.ts', '../../actors/video/video.queries.ts'],
  ['http/videos/c.ts', '../../media/ffmpeg/probe.ts'],
  ['http/videos/d.ts', '@fedify/fedify'],
  ['http/e.ts', '../main.js'],
  ['remote-runner/a.ts', '../actors/runner/index.ts'],
  ['remote-runner/b.ts', '../media/ffmpeg/probe.ts'],
  ['http/f.ts', '../runtime-settings.ts'],
]

const right: Array<[file: string, specifier: string]> = [
  ['state-machines/a.ts', 'xstate'],
  ['state-machines/b.ts', './step.ts'],
  ['platform/a.ts', 'node:fs'],
  ['platform/database/b.ts', '@mikro-orm/postgresql'],
  ['platform/queue/c.ts', 'bullmq'],
  ['media/a.ts', '../platform/clock.ts'],
  ['media/ffmpeg/b.ts', 'fluent-ffmpeg'],
  ['actors/video/a.ts', '../follow/index.ts'],
  ['actors/video/b.ts', '../follow/follow.entity.ts'],
  ['actors/video/c.ts', '../../state-machines/video.ts'],
  ['actors/video/f.ts', '../follow/follow.writes.ts'],
  ['actors/video/d.ts', '../../media/index.ts'],
  ['actors/video/files/g.ts', '../../follow/follow.writes.ts'],
  ['actors/video/files/h.ts', '../../../state-machines/video.ts'],
  ['actors/video/e.ts', '@mikro-orm/postgresql'],
  ['federation/inbound/a.ts', '../../actors/follow/index.ts'],
  ['federation/b.ts', '@fedify/fedify'],
  ['http/videos/a.ts', '../../actors/video/index.ts'],
  ['http/videos/b.ts', '../../media/index.ts'],
  ['http/c.ts', 'fastify'],
  ['remote-runner/a.ts', '../media/index.ts'],
  ['remote-runner/b.ts', '../platform/ids.ts'],
  ['compose.ts', './http/app.ts'],
  ['compose/http.ts', '../http/app.ts'],
]

let folder: string
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'vireo-imports-')))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the import rules', () => {
  it('refuse each import in a forbidden direction', async () => {
    const refused = await lint('wrong', wrong)
    expect([...(refused.get('noRestrictedImports') ?? [])].sort()).toEqual(wrong.map(([file]) => `src/${file}`).sort())
  })

  it('allow every other import', async () => {
    expect(await lint('right', right)).toEqual(new Map())
  })

  it.each(['values', 'types'] as const)('refuse a cycle of %s', async (of) => {
    const files: [string, string][] = [
      ['http/a.ts', './b.ts'],
      ['http/b.ts', './c.ts'],
      ['http/c.ts', './a.ts'],
    ]
    const refused = await lint(`cycle-${of}`, files, of)
    expect([...(refused.get('noImportCycles') ?? [])].sort()).toEqual(['src/http/a.ts', 'src/http/b.ts', 'src/http/c.ts'])
  })
})

/** The files that break a rule, by the name of the rule, in a tree in which each file has one import. */
async function lint(
  name: string,
  files: Array<[file: string, specifier: string]>,
  of: 'values' | 'types' = 'values',
): Promise<Map<string, Set<string>>> {
  const tree = join(folder, name)
  await mkdir(tree)
  for (const file of ['biome.json', 'scripts/states.grit']) await cp(join(root, file), join(tree, file))
  await writeFile(join(tree, '.gitignore'), 'data/\n')
  for (const [file, specifier] of files) {
    const path = join(tree, 'src', file)
    await mkdir(dirname(path), { recursive: true })
    const [kind, own] = of === 'types' ? ['import type', 'type own = part[]'] : ['import', 'const own = [part]']
    await writeFile(path, `${kind} { part } from '${specifier}'\n\nexport ${own}\n`)
  }
  const rules = ['lint/style/noRestrictedImports', 'lint/suspicious/noImportCycles'].map((rule) => `--only=${rule}`)
  const args = [biome, 'lint', ...rules, '--reporter=github', '--max-diagnostics=none', 'src']
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { cwd: tree }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
  // An unreadable configuration would allow everything.
  expect(output).not.toContain('configuration ━')
  const broken = new Map<string, Set<string>>()
  for (const [, rule = '', file = ''] of output.matchAll(/title=lint\/\w+\/(\w+),file=([^,]+),/g)) {
    broken.set(rule, (broken.get(rule) ?? new Set()).add(relative(tree, file)))
  }
  return broken
}
