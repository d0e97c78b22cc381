// Keys from the environment: VIREO__TRANSCODING__THREADS=4 is transcoding.threads. Values are YAML; keys of texts are taken literally.

import { parseDocument } from 'yaml'
import { type Layer, nest } from './layers.ts'
import { findNode, keys, type Node, nearest, tree } from './tree.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const PREFIX = 'VIREO__'

export interface EnvironmentLayers {
  /** Sections before the keys inside them. */
  layers: Layer[]
  /** Keys that have a variable of their own, such as `instance.name`; not those inside of a section that one variable sets. */
  pinned: string[]
  warnings: string[]
  problems: string[]
}

export function readEnvironment(env: Environment): EnvironmentLayers {
  const warnings: string[] = []
  const problems: string[] = []
  const layers: { layer: Layer; depth: number }[] = []
  const pinned: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !name.toUpperCase().startsWith(PREFIX)) continue
    const path = findPath(name.slice(PREFIX.length).split('__'))
    const node = path && findNode(path)
    if (!path || !node) {
      warnings.push(describeUnknown(name))
      continue
    }
    const read = readValue(value, node)
    if (node.kind === 'key') pinned.push(path.join('.'))
    if ('problem' in read) problems.push(`${path.join('.')} (${name}) is not YAML: ${read.problem}`)
    else layers.push({ layer: { label: name, values: nest(path, read.value) }, depth: path.length })
  }
  return { layers: layers.sort((a, b) => a.depth - b.depth).map(({ layer }) => layer), pinned, warnings, problems }
}

/** The variable of the key `transcoding.resolutions.1080p`. */
export function variableOf(path: string): string {
  return PREFIX + path.split('.').map(fold).join('__')
}

/** Names of variables have neither lower-case letters nor dashes. */
function fold(name: string): string {
  return name.toUpperCase().replaceAll('-', '_')
}

function findPath(segments: readonly string[]): string[] | undefined {
  const path: string[] = []
  let node: Node = tree
  for (const segment of segments) {
    if (node.kind === 'key') return undefined
    const child: [string, Node] | undefined = [...node.children].find(([name]) => fold(name) === fold(segment))
    if (!child) return undefined
    path.push(child[0])
    node = child[1]
  }
  return path
}

function readValue(value: string, node: Node): { value: unknown } | { problem: string } {
  if (node.kind === 'key' && node.info.text && !isWrittenAsYaml(value)) return { value }
  const document = parseDocument(value, { prettyErrors: false })
  const [error] = document.errors
  if (error) return { problem: error.message.split('\n', 1)[0] ?? '' }
  return { value: document.toJS() }
}

/** A text counts as YAML only if it is quoted as a whole, or null. */
function isWrittenAsYaml(value: string): boolean {
  return /^\s*("([^"\\]|\\.)*"|'([^']|'')*'|null|~)\s*$/s.test(value)
}

function describeUnknown(name: string): string {
  const suggestion = nearest(
    name.toUpperCase(),
    keys.map((key) => variableOf(key.path)),
  )
  return suggestion ? `environment: unknown variable ${name}, did you mean ${suggestion}?` : `environment: unknown variable ${name}`
}
