// A failed start prints its cause in one line, exits with code 1, and leaves nothing running.

import { chmod, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { freePort } from '../support/ports.ts'
import { dataFolder, launch, processesIn } from './support/child.ts'

let folder: ReturnType<typeof dataFolder>

beforeEach(() => {
  folder = dataFolder()
})

afterEach(async () => {
  await folder.remove()
})

/** Starts a node that must fail; returns its output. */
async function failure(options: { port?: number; env?: Record<string, string> }): Promise<string[]> {
  const port = options.port ?? (await freePort())
  const child = launch({ dataDir: folder.path, port, env: { VIREO__LOG__LEVEL: 'error', ...options.env } })
  expect(await child.ended).toBe(1)
  expect(processesIn(folder.path)).toEqual([])
  return child.said
}

describe('a start that fails', () => {
  it('names the port in use', async () => {
    const [server, port] = await occupied()
    try {
      // The first start printed the password before it failed; later starts do not print it again.
      const said = (await failure({ port })).filter((line) => !/^(Client|User)/.test(line))
      expect(said).toHaveLength(1)
      expect(said[0]).toMatch(new RegExp(`:${port}: another program uses this port`))
    } finally {
      server.close()
    }
  })

  it('names the database that refuses connections', async () => {
    const port = await freePort()
    const said = await failure({ env: { DATABASE_URL: `postgres://vireo:secret@127.0.0.1:${port}/vireo` } })
    expect(said).toHaveLength(1)
    expect(said[0]).toContain(`127.0.0.1:${port}`)
    expect(said[0]).toMatch(/DATABASE_URL/)
    expect(said[0]).not.toContain('secret')
  })

  it('names the Redis that refuses connections', async () => {
    const port = await freePort()
    const said = await failure({ env: { REDIS_URL: `redis://:secret@127.0.0.1:${port}` } })
    expect(said).toHaveLength(1)
    expect(said[0]).toContain(`127.0.0.1:${port}`)
    expect(said[0]).not.toContain('secret')
  })

  it.each(['a-file', 'a-file/below'])('names an invalid data folder: %s', async (name) => {
    const file = join(folder.path, 'a-file')
    await writeFile(file, '')
    const dataDir = join(folder.path, name)
    const said = await failure({ env: { VIREO_DATA_DIR: dataDir } })
    expect(said).toHaveLength(1)
    expect(said[0]).toContain(dataDir)
    expect(said[0]).toContain('VIREO_DATA_DIR')
  })

  it('names the key, the value and the expected values of an invalid configuration', async () => {
    const file = join(folder.path, 'wrong.yaml')
    await writeFile(file, 'transcoding:\n  threads: many\nlisten:\n  prot: 9001\n')
    const said = await failure({ env: { VIREO_CONFIG: file } })
    expect(said).toHaveLength(2)
    expect(said[1]).toMatch(/listen\.prot.*listen\.port/)
    expect(said[0]).toMatch(/transcoding\.threads/)
    expect(said[0]).toMatch(/many/)
    expect(said[0]).toMatch(/number/i)
  })

  it('names the missing configuration file', async () => {
    const file = join(folder.path, 'nowhere.yaml')
    const said = await failure({ env: { VIREO_CONFIG: file } })
    expect(said).toHaveLength(1)
    expect(said[0]).toContain(file)
  })

  it('names the ffmpeg that cannot encode H.264', async () => {
    const ffmpeg = join(folder.path, 'ffmpeg')
    await writeFile(ffmpeg, '#!/bin/sh\necho "ffmpeg version 6.0 Copyright (c) 2000-2023 the FFmpeg developers"\n')
    await chmod(ffmpeg, 0o755)
    const said = await failure({
      env: { PATH: `${folder.path}:${process.env.PATH}`, VIREO__VIREO__MEDIA__FFMPEG_PATH: ffmpeg },
    })
    expect(said).toHaveLength(1)
    expect(said[0]).toContain(ffmpeg)
    expect(said[0]).toMatch(/libx264/)
  })
})

async function occupied(): Promise<[Server, number]> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return [server, typeof address === 'object' && address ? address.port : 0]
}
