// Walks the schema: the keys, their descriptions, and suggestions for misspelt ones.

import { z } from 'zod'
import { type KeyInfo, keyInfo } from './kinds.ts'
import { schema } from './schema.ts'

export interface Section {
  kind: 'section'
  children: ReadonlyMap<string, Node>
}

export interface Key {
  kind: 'key'
  /** `transcoding.threads` */
  path: string
  info: KeyInfo
}

export type Node = Section | Key

/** The schema as a tree of sections and keys. */
export const tree: Section = readSection(schema, '')

/** All keys, in the order of the schema. */
export const keys: readonly Key[] = collectKeys(tree)

/** The section or key at a path such as `['transcoding', 'threads']`. */
export function findNode(path: readonly string[]): Node | undefined {
  let node: Node | undefined = tree
  for (const name of path) node = node?.kind === 'section' ? node.children.get(name) : undefined
  return node
}

/** The candidate that is most similar to `name`, if it is similar enough. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let least = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate)
    if (distance >= least) continue
    best = candidate
    least = distance
  }
  return best
}

function readSection(object: z.ZodObject, prefix: string): Section {
  const children = new Map<string, Node>()
  for (const [name, child] of Object.entries(object.shape)) {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const info = keyInfo(child)
    if (info) children.set(name, { kind: 'key', path, info })
    else children.set(name, readSection(sectionOf(child, path), path))
  }
  return { kind: 'section', children }
}

function sectionOf(child: z.core.$ZodType, path: string): z.ZodObject {
  const inner = child instanceof z.ZodPrefault ? child.def.innerType : child
  if (inner instanceof z.ZodObject) return inner
  throw new Error(`${path} is neither a section nor a key of the schema`)
}

function collectKeys(node: Node): Key[] {
  return node.kind === 'key' ? [node] : [...node.children.values()].flatMap(collectKeys)
}

/** Levenshtein's distance, with two rows. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
