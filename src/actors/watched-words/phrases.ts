// Literal words and phrases, matched together (Aho and Corasick, over tokens instead of letters): one pass over the text, however many
// there are.

import { type ReadText, wordTokens } from './reading.ts'

/** Size of a leaf, and additional size of other nodes. */
const NODE = 8
const NEXT = 18

interface Node {
  /** Undefined for a leaf: most words are one token. */
  next: Map<string, Node> | undefined
  /** The longest proper suffix of the tokens read so far that is a prefix of a phrase. */
  shorter: Node | undefined
  /** True if a phrase ends here. */
  isFound: boolean
}

export function compilePhrases(words: readonly string[]) {
  const firsts = new Map<string, Node>()
  const root: Node = { next: firsts, shorter: undefined, isFound: false }
  /** Memory in units of some 10 bytes. */
  let size = 0
  for (const tokens of words.map(wordTokens)) {
    if (tokens.length === 0) continue
    let node = root
    for (const token of tokens) {
      if (!node.next) {
        node.next = new Map()
        size += NEXT
      }
      let next = node.next.get(token)
      if (!next) {
        next = { next: undefined, shorter: root, isFound: false }
        node.next.set(token, next)
        size += NODE
      }
      node = next
    }
    node.isFound = true
  }
  linkShorter(firsts)

  return {
    size,
    /** Whether one of them is in the text. */
    find({ tokens, distinct }: ReadText): boolean {
      if (!mayBegin(firsts, distinct)) return false
      let node = root
      for (const token of tokens) {
        node = after(node, token) ?? root
        if (node.isFound) return true
      }
      return false
    },
  }
}

/** The next node for a token, from a node or its shorter suffixes. */
function after(from: Node, token: string): Node | undefined {
  for (let node: Node | undefined = from; node; node = node.shorter) {
    const next = node.next?.get(token)
    if (next) return next
  }
  return undefined
}

function linkShorter(firsts: ReadonlyMap<string, Node>): void {
  const queue = [...firsts.values()]
  for (const node of queue) {
    for (const [token, next] of node.next ?? []) {
      const shorter = (node.shorter && after(node.shorter, token)) ?? next.shorter
      next.shorter = shorter
      next.isFound ||= shorter?.isFound ?? false
      queue.push(next)
    }
  }
}

/** True if a text has any of the first tokens: most have none. */
function mayBegin(firsts: ReadonlyMap<string, unknown>, distinct: ReadonlySet<string>): boolean {
  const [few, many] = firsts.size < distinct.size ? [firsts, distinct] : [distinct, firsts]
  for (const token of few.keys()) if (many.has(token)) return true
  return false
}
