// deploy/ against the program: the keys, roles, ports, folders and routes that its files name must exist.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from '@jest/globals'
import { loadConfig } from '../../../src/config/index.ts'
import { findNode } from '../../../src/config/tree.ts'
import { parseDuration } from '../../../src/config/units.ts'
import { READY_PATH } from '../../../src/http/health/answers.ts'
import { PRIVATE_FILE } from '../../../src/http/static/caching.ts'
import { fileKinds } from '../../../src/media/index.ts'
import { roles } from '../../../src/runtime-settings.ts'
import { readCompose } from './compose.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found)

const compose = readCompose(read('deploy/compose/compose.yaml'), read('deploy/compose/.env.example'))
const local = Object.entries(compose.services).filter(([, { command }]) => command?.[0] === 'serve')
const units = ['vireo.service', 'vireo@.service'].map((name) => [name, read(`deploy/systemd/${name}`)] as const)

/** The configuration of a container, with secrets in the format of make-secrets.sh. */
function configOf(environment: Record<string, string>) {
  const { VIREO_CONFIG: _elsewhere, ...env } = environment
  const secrets = { VIREO__SECRETS__PEERTUBE: 'x', VIREO__DATABASE__PASSWORD: 'y' }
  const files = [join(root, 'deploy/compose/production.yaml')]
  return loadConfig({ files, env: { ...env, ...secrets, VIREO_DATA_DIR: '/var/lib/vireo' }, cwd: '/' })
}

describe('configurations', () => {
  const example = loadConfig({ files: [join(root, 'deploy/production.example.yaml')], env: {}, cwd: '/' })

  it('the example has no unknown key', () => {
    expect(example.warnings).toEqual([])
    expect(example.publicUrl).toBe('https://video.example')
  })

  it.each(local)('the container %s has no unknown key', (_name, { environment }) => {
    const { warnings, publicUrl, database, redis } = configOf(environment)
    expect({ warnings, publicUrl, database: database.kind, redis: redis?.kind }).toEqual({
      warnings: [],
      publicUrl: 'https://videos.example.org',
      database: 'server',
      redis: 'url',
    })
  })

  it.each(['docs/operations.md', 'deploy/README.md', 'deploy/nginx/vireo.conf', ...units.map(([name]) => `deploy/systemd/${name}`)])(
    '%s has no unknown key',
    (path) => {
      const named = matches(
        read(path),
        /\b((?:vireo|storage|object_storage|open_telemetry|webserver|secrets|database|redis)\.[a-z_]+(?:\.[a-z_]+)*)/g,
      )
      const variables = matches(read(path), /\b(VIREO__[A-Z0-9_]+)=/g)
      const env = Object.fromEntries(variables.map((name) => [name, '1']))
      const { warnings } = loadConfig({ files: [], env: withValues(env), cwd: '/' })
      expect(named.filter((key) => !NO_KEYS.test(key) && !findNode(key.split('.')))).toEqual([])
      expect(warnings).toEqual([])
    },
  )
})

describe('processes', () => {
  it('of the compose file cover each role', () => {
    const played = local.map(([, { command = [] }]) => command.at(-1) ?? '')
    expect([...new Set(played)].sort()).toEqual([...roles].sort())
  })

  it.each(units)('%s and the containers have enough time to drain', (_name, unit) => {
    const graces = [...matches(unit, /^TimeoutStopSec=(\d+)$/gm).map((seconds) => Number(seconds) * 1000)]
    for (const [, { stop_grace_period, environment }] of local) {
      const { http, runtime } = configOf(environment).config.vireo
      const longest = http.drain_delay + runtime.stop_timeout
      for (const grace of [...graces, parseDuration(stop_grace_period ?? '0')]) expect(grace).toBeGreaterThan(longest)
    }
    expect(graces).toHaveLength(1)
  })

  it('serve health checks where they are requested', () => {
    for (const [name, { healthcheck, environment }] of local) {
      const { listen, vireo } = configOf(environment).config
      const own = `http://127.0.0.1:${vireo.health.port}${READY_PATH}`
      expect([name, healthcheck?.test?.at(-1)]).toEqual([name, vireo.health.port === null ? undefined : own])
      expect(read('deploy/Dockerfile')).toContain(`EXPOSE ${listen.port}\n`)
    }
    expect(read('deploy/image/healthcheck.ts')).toContain(READY_PATH)
    expect(READY_PATH).toMatch(/^\/health\//)
    expect(read('deploy/nginx/vireo-server.conf')).toContain('location /health/ {')
  })

  it("with the role web are nginx's upstreams", () => {
    const web = local.filter(([, { command }]) => command?.at(-1) === 'web').map(([name]) => `${name}:9000`)
    const requested = matches(read('deploy/compose/nginx.conf.template'), /server (web-\S+)/g)
    expect([...new Set(requested)].sort()).toEqual(web.sort())
    const { port } = loadConfig({ files: [join(root, 'deploy/production.example.yaml')], env: {}, cwd: '/' }).config.listen
    const [first] = matches(read('deploy/nginx/vireo.conf'), /server 127\.0\.0\.1:(\d+)/g)
    expect(first).toBe(String(port))
  })
})

describe('nginx', () => {
  const server = read('deploy/nginx/vireo-server.conf')

  it('finds the files of each kind where Vireo stores them', () => {
    const { storage } = loadConfig({ files: [], env: { VIREO_DATA_DIR: '/var/lib/vireo' }, cwd: '/' }).config
    const served = fileKinds.filter((kind) => kind !== 'uploads' && kind !== 'tmp')
    const wanted = [...served, 'cache' as const].map((kind) => [kind, storage[kind].replace(/\/*$/, '/')])
    const found = [...server.matchAll(/location \/internal\/(\w+)\/ \{ internal; alias (\S+); \}/g)]
    expect(Object.fromEntries(found.map(([, kind, path]) => [kind, path]))).toEqual(Object.fromEntries(wanted))
  })

  it('caches pictures in a folder that it can create, since it creates no parent folders', () => {
    const [kept = ''] = matches(read('deploy/nginx/vireo-http.conf'), /^proxy_cache_path (\S+)/gm)
    expect(dirname(kept)).toBe('/var/cache')
    expect(compose.services.nginx?.volumes).toContain(`pictures:${kept}`)
  })

  it("sends Vireo's cache headers of private files, also where it sends the bytes", () => {
    const [inner = ''] = matches(server, /^location \/internal\/ \{\n([\s\S]*?)^\}/gm)
    const { 'cache-control': _kept, ...told } = PRIVATE_FILE
    const passedOn = matches(inner, /add_header (\S+) \$upstream_http_\w+;/g).map((name) => name.toLowerCase())
    expect(passedOn.sort()).toEqual(Object.keys(told).sort())
    expect(server).toContain('proxy_pass_header X-Accel-Expires;')
  })

  it('is configured as the sender of files', () => {
    const { vireo, trust_proxy } = configOf(local[0]?.[1].environment ?? {}).config
    expect(vireo.delivery.x_accel_location).toBe('/internal')
    expect(trust_proxy).toEqual(['loopback', 'uniquelocal'])
  })

  it('returns the size limit of a body', () => {
    for (const [limit, location] of [
      ['32m', '@too_large'],
      ['16g', '@upload_too_large'],
    ] as const) {
      expect(server).toContain(`client_max_body_size ${limit};`)
      const refusal = server.slice(server.indexOf(`location ${location} {`))
      expect(matches(refusal, /X-File-Maximum-Size (\w+) always/g)[0]).toBe(limit.toUpperCase())
    }
  })
})

describe('a backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vireo-backup-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const backup = (env: Record<string, string>) => {
    const options = { encoding: 'utf8', env: { ...env, VIREO_DATA_DIR: join(folder, 'data') } } as const
    return spawnSync('bash', [join(root, 'deploy/backup/backup.sh'), join(folder, 'backups')], options)
  }

  it('removes the remains of a killed one, and leaves nothing when it fails itself', () => {
    const left = join(folder, 'backups', '.2026-01-01T033000Z.partial')
    mkdirSync(left, { recursive: true })
    writeFileSync(join(left, 'secret.key'), 'a secret')
    // Not on every machine.
    writeFileSync(join(folder, 'rsync'), '#!/bin/sh\n', { mode: 0o755 })
    const { status } = backup({ PATH: `${folder}:${process.env.PATH}`, BACKUP_PG_DUMP: 'exit 3' })
    expect([status, readdirSync(join(folder, 'backups'))]).toEqual([3, ['.lock']])
  })

  it('has a checksum of each file, computed once for all backups that link it', () => {
    const data = join(folder, 'data')
    const pictures = join(data, 'storage/thumbnails')
    mkdirSync(pictures, { recursive: true })
    writeFileSync(join(data, 'secret.key'), 'a secret')
    writeFileSync(join(pictures, 'a.jpg'), 'first')
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    // Like a backup with --link-dest, and a valid dump.
    writeFileSync(join(bin, 'rsync'), '#!/bin/sh\nshift $(($# - 2))\ncp -alf "$1." "$2"\n', { mode: 0o755 })
    writeFileSync(join(bin, 'pg_restore'), '#!/bin/sh\n', { mode: 0o755 })
    // The next backup needs a different name.
    writeFileSync(join(bin, 'date'), '#!/bin/sh\necho "2026-01-0$(ls -d "$BACKUPS"/20* | wc -l)T033000Z"\n', {
      mode: 0o755,
    })
    const env = { PATH: `${bin}:${process.env.PATH}`, BACKUPS: join(folder, 'backups'), BACKUP_PG_DUMP: 'printf PGDMP' }
    const made = (n: number) => join(folder, 'backups', `2026-01-0${n}T033000Z`)
    const listed = (n: number) =>
      readFileSync(join(made(n), 'FILES'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .toSorted()
    const entry = (text: string, name: string, sum = createHash('sha256').update(text).digest('hex')) =>
      `${text.length}\t${sum}\tstorage/thumbnails/${name}`
    const verify = (...args: string[]) =>
      spawnSync('bash', [join(root, 'deploy/backup/verify.sh'), ...args], { env: { ...process.env, ...env } }).status

    expect(backup(env).status).toBe(0)
    expect(listed(0)).toEqual([entry('first', 'a.jpg')])
    expect(verify(made(0))).toBe(0)
    const another = 'f'.repeat(64)
    writeFileSync(join(made(0), 'FILES'), `${entry('first', 'a.jpg', another)}\n`)
    writeFileSync(join(pictures, 'b.jpg'), 'second')
    expect(backup(env).status).toBe(0)
    expect(listed(1)).toEqual([entry('second', 'b.jpg'), entry('first', 'a.jpg', another)].toSorted())
    expect([verify('--sizes', made(1)), verify(made(1))]).toEqual([0, 1])
    rmSync(join(made(1), 'storage/thumbnails/b.jpg'))
    expect(verify('--sizes', made(1))).toBe(1)
  })

  it('does not remove itself', () => {
    const { status, stderr } = backup({ PATH: process.env.PATH ?? '', BACKUP_KEEP: '0' })
    expect([status, stderr]).toEqual([1, expect.stringContaining('BACKUP_KEEP is 0')])
  })
})

describe('paths', () => {
  it('of the image exist in the checkout, and are not excluded from the build', () => {
    const kept = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    const copied = matches(read('deploy/Dockerfile'), /^COPY (?!--)(.*) \S+$/gm).flatMap((sources) => sources.split(' '))
    for (const source of copied.map((path) => path.replace(/\/$/, ''))) {
      expect([source, existsSync(join(root, source))]).toEqual([source, true])
      expect([source, kept.some((path) => source === path || source.startsWith(`${path}/`))]).toEqual([source, true])
    }
  })

  it('of the units exist in the checkout', () => {
    for (const name of readdirSync(join(root, 'deploy/systemd'))) {
      const named = matches(read(`deploy/systemd/${name}`), /\/opt\/vireo\/([\w./-]+)/g).concat(
        matches(read(`deploy/systemd/${name}`), /node --max-semi-space-size=2 (\S+)/g),
      )
      for (const path of named) if (!path.startsWith('node_modules/')) expect([path, existsSync(join(root, path))]).toEqual([path, true])
    }
  })

  it('that are mounted exist in the checkout, or are created by the operator', () => {
    const mounted = Object.values(compose.services)
      .flatMap(({ volumes }) => volumes)
      .map((volume) => volume.split(':')[0] ?? '')
    const made = ['./tls', './acme']
    for (const path of mounted.filter((name) => name.startsWith('.') && !made.includes(name)))
      expect([path, existsSync(join(root, 'deploy/compose', path))]).toEqual([path, true])
  })
})

/** Names that look like configuration keys, but are files and hosts. */
const NO_KEYS = /\.(?:service|target|timer|conf|git|md|sh|yaml|log|key|example|dump|org|access|error)$/

/** A valid value of the key's kind. */
function withValues(env: Record<string, string>): Record<string, string> {
  const values = Object.entries(env).map(([name]) => [name, /PORT$/.test(name) ? '9001' : /HOSTNAME$/.test(name) ? 'x' : ''])
  return Object.fromEntries(values)
}
