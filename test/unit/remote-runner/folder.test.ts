// The folder of a runner: for a single process, and cleaned up after a killed one.

import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { openFolder } from '../../../src/remote-runner/folder.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vireo-runner-folder-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('is locked until the first runner ends', async () => {
  const first = await openFolder(folder)
  await expect(openFolder(folder)).rejects.toThrow(`Another runner works in the folder ${folder}. Give each its own with --folder.`)
  await first.close()
  await (await openFolder(folder)).close()
  expect(await readdir(folder)).toEqual([])
})

it('is taken over from a killed runner, whose job files are removed', async () => {
  await openFolder(folder)
  const lock = join(folder, 'lock')
  // The same pid, of another process.
  await writeFile(lock, `${await readFile(lock, 'utf8')}0`)
  await mkdir(join(folder, 'job-abc/work'), { recursive: true })
  await writeFile(join(folder, 'job-abc/work/input'), 'large')
  await writeFile(join(folder, 'runner-1.json'), '{}')
  await (await openFolder(folder)).close()
  expect(await readdir(folder)).toEqual(['runner-1.json'])
})

it('is taken over from a silent runner of another machine', async () => {
  const lock = join(folder, 'lock')
  await writeFile(lock, 'elsewhere|7 1')
  await expect(openFolder(folder)).rejects.toThrow('Another runner')
  const longAgo = new Date(Date.now() - 31_000)
  await utimes(lock, longAgo, longAgo)
  await (await openFolder(folder)).close()
})
