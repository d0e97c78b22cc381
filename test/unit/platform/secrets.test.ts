// Sealing, keyed hashes and the secret file.

import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { loadOrCreateSecret, makeSecrets } from '../../../src/platform/secrets.ts'

describe('secrets', () => {
  const secrets = makeSecrets({ secret: 'a secret of this installation' })

  it('open what they sealed, in any script and length', () => {
    for (const text of ['', 'x', 'Grüße 👋', 'k'.repeat(100_000)]) expect(secrets.open(secrets.seal(text))).toBe(text)
  })

  it('seal the same text differently each time and never show it', () => {
    const [one, two] = [secrets.seal('private key'), secrets.seal('private key')]
    expect(one).not.toBe(two)
    expect(Buffer.from(one.slice(3), 'base64url').toString('latin1')).not.toContain('private')
  })

  it('refuse a sealed text of which one byte was altered', () => {
    const sealed = secrets.seal('text')
    const bytes = Buffer.from(sealed.slice(3), 'base64url')
    for (let index = 0; index < bytes.length; index += 1) {
      const altered = Buffer.from(bytes)
      altered[index] = (altered[index] ?? 0) ^ 1
      expect(() => secrets.open(`v1.${altered.toString('base64url')}`)).toThrow('cannot be opened')
    }
  })

  it('refuse what another secret sealed', () => {
    expect(() => makeSecrets({ secret: 'other' }).open(secrets.seal('text'))).toThrow('cannot be opened')
  })

  it('refuse what is no sealed text', () => {
    for (const text of ['', 'plain', 'v1.', 'v1.AAAA', `v2${secrets.seal('x').slice(2)}`]) {
      expect(() => secrets.open(text)).toThrow('not a sealed text')
    }
  })

  it('hash by purpose', () => {
    expect(secrets.hmac('link', 'a')).toMatch(/^[0-9a-f]{64}$/)
    expect(secrets.hmac('link', 'a')).toBe(makeSecrets({ secret: 'a secret of this installation' }).hmac('link', 'a'))
    expect(secrets.hmac('link', 'a')).not.toBe(secrets.hmac('token', 'a'))
    expect(secrets.hmac('link', 'a')).not.toBe(secrets.hmac('link', 'b'))
  })

  it('need a secret', () => {
    expect(() => makeSecrets({ secret: '' })).toThrow('secrets.peertube')
  })
})

describe('the secret of an installation', () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'vireo-secret-'))
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))

  it('is the configured one if there is one, and no file is created', async () => {
    expect(await loadOrCreateSecret({ configured: 'mine', dataDir })).toBe('mine')
    expect(await readdir(dataDir)).toEqual([])
  })

  it('is created once, readable by its owner only, and reused', async () => {
    const folder = join(dataDir, 'not', 'there')
    const first = await loadOrCreateSecret({ configured: '', dataDir: folder })
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(await loadOrCreateSecret({ configured: '', dataDir: folder })).toBe(first)
    expect(await readdir(folder)).toEqual(['secret.key'])
    expect((await stat(join(folder, 'secret.key'))).mode & 0o777).toBe(0o600)
  })

  it('is the same for processes that start together', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateSecret({ configured: '', dataDir })))
    expect(new Set(all).size).toBe(1)
    expect(await readdir(dataDir)).toEqual(['secret.key'])
  })

  it('is not replaced when its file was emptied', async () => {
    await writeFile(join(dataDir, 'secret.key'), '')
    await expect(loadOrCreateSecret({ configured: '', dataDir })).rejects.toThrow('secret.key is empty')
  })
})
