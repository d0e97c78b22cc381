// Real nodes that follow each other, and what visitors see of them over REST.

import type { Values } from '../../src/config/layers.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

/** Failed requests are retried at once. */
const SOON = { initial_backoff: '50 ms', max_backoff: '100 ms' }
export const QUICK_FEDERATION: Values = { vireo: { federation: { delivery: SOON, inbox: SOON } } }

interface Actor {
  name: string
  host: string
}
export interface VideoView {
  id: number
  uuid: string
  url: string
  name: string
  tags: string[]
  likes: number
  dislikes: number
  account: Actor
  channel: Actor & { displayName: string }
}
export interface CommentView {
  id: number
  url: string
  text: string
  isDeleted: boolean
  heldForReview: boolean
  totalReplies: number
  account: Actor | null
}
interface CommentTree {
  comment: CommentView
  children: CommentTree[]
}

/** The answer to a visitor; undefined for 404, or 403 before the follow. */
export async function seenOn<T>(node: FederatedNode, path: string): Promise<T | undefined> {
  const answer = await fetch(`${node.base}${path}`)
  if (answer.status === 404) return undefined
  const text = await answer.text()
  if (answer.status === 403 && text.includes('does_not_respect_follow_constraints')) return undefined
  if (!answer.ok) throw new Error(`${answer.status} from ${answer.url}: ${text}`)
  return JSON.parse(text) as T
}

export const videoOn = (node: FederatedNode, uuid: string): Promise<VideoView | undefined> =>
  seenOn<VideoView>(node, `/api/v1/videos/${uuid}`)

/** Waits until the video exists. */
export const arrives = (node: FederatedNode, uuid: string): Promise<VideoView> =>
  until(() => videoOn(node, uuid), { what: `the video ${uuid} on ${node.base}` })

/** Every visible comment of a video, threads first. */
export async function commentsOn(node: FederatedNode, uuid: string): Promise<CommentView[]> {
  const path = `/api/v1/videos/${uuid}/comment-threads`
  const threads = (await seenOn<{ data: CommentView[] }>(node, path))?.data ?? []
  const trees = await Promise.all(threads.map(({ id }) => seenOn<CommentTree>(node, `${path}/${id}`)))
  const flat = (tree: CommentTree): CommentView[] => [tree.comment, ...tree.children.flatMap(flat)]
  return trees.flatMap((tree) => (tree ? flat(tree) : []))
}

/** Waits for a visible comment that matches. */
export const commentSeen = (
  node: FederatedNode,
  uuid: string,
  fits: (comment: CommentView) => boolean,
  what: string,
): Promise<CommentView> => until(async () => (await commentsOn(node, uuid)).find(fits), { what: `${what} on ${node.base}` })

/** An administrator of `by` follows hosts or handles, until all are accepted. */
export async function follow(by: FederatedNode, requested: { hosts?: string[]; handles?: string[] }): Promise<void> {
  const wanted = (requested.hosts ?? []).length + (requested.handles ?? []).length
  const accepted = async () => (await by.client.get<{ total: number }>('/api/v1/server/following?state=accepted&count=1')).total
  const before = await accepted()
  await by.client.send('POST', '/api/v1/server/following', requested)
  await until(async () => (await accepted()) === before + wanted, { what: 'the follows' })
}

/** Nodes that all follow each other's instances. */
export async function startNodes(count: number, config: Values = QUICK_FEDERATION): Promise<FederatedNode[]> {
  const nodes = await Promise.all(Array.from({ length: count }, () => startFederatedNode(config)))
  for (const node of nodes) {
    await follow(node, { hosts: nodes.filter((one) => one !== node).map(({ host }) => host) })
  }
  return nodes
}

interface Turn {
  from: FederatedNode
  to: FederatedNode
  third: FederatedNode
}

/**
 * The first two nodes, with each scenario the other way round, so that both of them play both roles in a file; `third` looks on. All
 * are of the same software: a scenario the other way round would run the same code again.
 */
export function takeTurns(nodes: () => FederatedNode[]): () => Turn {
  let isTurned = true
  return () => {
    isTurned = !isTurned
    const [first, second, third] = nodes()
    if (!first || !second) throw new Error('These nodes did not start.')
    const [from, to] = isTurned ? [second, first] : [first, second]
    return { from, to, third: third ?? to }
  }
}
