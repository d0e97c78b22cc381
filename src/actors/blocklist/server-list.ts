// Exchange formats for lists of servers: one host per line, or Mastodon's CSV of domain blocks (RFC 4180). Pure.

import { domainToASCII } from 'node:url'

export interface ServerList {
  /** To be blocked: lower case, Punycode, without duplicates. */
  hosts: string[]
  /** Entries with a milder severity than a block. */
  milder: number
  bad: BadLine[]
}

export interface BadLine {
  /** From 1. */
  line: number
  problem: string
}

export interface ReadOptions {
  /** The host of this server, which cannot be in the list. */
  ownHost: string
  isHost: (text: string) => boolean
}

/** Mastodon's columns. */
const COLUMNS = ['domain', 'severity', 'reject_media', 'reject_reports', 'public_comment', 'obfuscate'] as const
const BLOCK = 'suspend'
const MILDER: ReadonlySet<string> = new Set(['silence', 'noop', 'none'])
/** Maximum characters of a line in an error, and of a name. */
export const SHOWN = 80
const LONGEST = 300

/** Parses a list of either format. Reports errors line by line. */
export function readServerList(text: string, options: ReadOptions): ServerList {
  const table = tableIn(withoutMark(text))
  const hosts = new Set<string>()
  const list: Omit<ServerList, 'hosts'> = { milder: 0, bad: [] }
  for (const { line, fields } of table?.rows ?? linesOf(text)) {
    const severity = (table?.severity === undefined ? '' : fields[table.severity] || '').trim().toLowerCase() || BLOCK
    const asked = fields[table?.domain ?? 0] ?? ''
    if (MILDER.has(severity)) list.milder += 1
    else if (severity !== BLOCK) list.bad.push({ line, problem: `"${severity.slice(0, SHOWN)}" is no severity.` })
    else {
      const host = hostIn(asked, options)
      if ('problem' in host) list.bad.push({ line, ...host })
      else hosts.add(host.name)
    }
  }
  return { ...list, hosts: [...hosts] }
}

/** The CSV of blocked servers, as `readServerList` parses it. */
export const writeServerTable = (hosts: readonly string[]): string =>
  [COLUMNS.map((name) => `#${name}`).join(','), ...hosts.map((host) => `${host},${BLOCK},false,false,,false`), ''].join('\n')

/** One name per line. */
export const writeLines = (names: readonly string[]): string => names.map((name) => `${name}\n`).join('')

/** Lower case, Punycode, without a trailing dot and the default port; undefined for an invalid host name. */
export function normalHost(text: string): string | undefined {
  if (text.length > LONGEST) return undefined
  const [, name = '', port = ''] = /^(.*?)\.?(:\d{1,5})?$/s.exec(text.trim()) ?? []
  const ascii = domainToASCII(name)
  return ascii === '' ? undefined : ascii + (port === ':443' ? '' : port)
}

function hostIn(text: string, { ownHost, isHost }: ReadOptions): { name: string } | { problem: string } {
  const name = normalHost(text)
  if (name === undefined || !isHost(name)) return { problem: `"${text.slice(0, SHOWN)}" is not the name of a server.` }
  return name === ownHost ? { problem: 'This server cannot block itself.' } : { name }
}

interface Row {
  line: number
  fields: string[]
}

const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '')

/** Lines that begin with # are comments. */
export const linesOf = (text: string): Row[] =>
  withoutMark(text)
    .split(/\r\n|\n|\r/)
    .map((line, index) => ({ line: index + 1, fields: [line.trim()] }))
    .filter(({ fields: [host = ''] }) => host !== '' && !host.startsWith('#'))

/** Undefined unless the first row names the columns. */
function tableIn(text: string): { domain: number; severity: number | undefined; rows: Row[] } | undefined {
  const [head, ...rows] = rowsOf(text)
  const names = head?.fields.map((name) => name.trim().toLowerCase().replace(/^#/, '')) ?? []
  const domain = names.indexOf('domain')
  if (domain < 0) return undefined
  const severity = names.indexOf('severity')
  return { domain, severity: severity < 0 ? undefined : severity, rows }
}

/** The rows of a CSV with their line numbers; empty ones are left out. A quoted field may contain line breaks. */
function rowsOf(text: string): Row[] {
  const rows: Row[] = []
  let row: Row = { line: 1, fields: [] }
  let line = 1
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/g)) {
    row.fields.push(quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"'))
    line += (quoted?.match(/\r\n|\n|\r/g) ?? []).length
    if (end === ',') continue
    line += 1
    if (row.fields.some((field) => field !== '')) rows.push(row)
    row = { line, fields: [] }
  }
  return rows
}
