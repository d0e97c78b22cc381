// NodeInfo: the software of a server, and (FEP-2677) its instance actor.

import { z } from 'zod'
import type { JsonObject } from './context.ts'
import { isHttpUrl, listOf, optional, optionalBoolean, optionalCount, type Read, readWith, text } from './read.ts'

const SCHEMA = 'http://nodeinfo.diaspora.software/ns/schema/'
const APPLICATION = 'https://www.w3.org/ns/activitystreams#Application'

export interface NodeInfoLinks {
  /** The NodeInfo document, of the newest supported version. */
  nodeInfo: string | null
  /** The instance actor; the reference follows a host by it. */
  instanceActor: string | null
}

const links = z
  .object({ links: listOf(z.object({ rel: z.string().max(200), href: z.string().max(2000) }), 50) })
  .transform((found): NodeInfoLinks => {
    const hrefOf = (rel: string) => found.links.find((link) => link.rel === rel && isHttpUrl(link.href))?.href ?? null
    return {
      nodeInfo: hrefOf(`${SCHEMA}2.1`) ?? hrefOf(`${SCHEMA}2.0`) ?? hrefOf(`${SCHEMA}1.0`),
      instanceActor: hrefOf(APPLICATION),
    }
  })

/** Reads `/.well-known/nodeinfo`. */
export const readNodeInfoLinks = (document: unknown): Read<NodeInfoLinks> => readWith(links, document)

/** The local `/.well-known/nodeinfo`. */
export function buildNodeInfoLinks(input: { nodeInfo20: string; nodeInfo21: string; instanceActor: string }): JsonObject {
  return {
    links: [
      { rel: `${SCHEMA}2.0`, href: input.nodeInfo20 },
      { rel: `${SCHEMA}2.1`, href: input.nodeInfo21 },
      { rel: APPLICATION, href: input.instanceActor },
    ],
  }
}

export interface NodeInfoDocument {
  software: string
  version: string
  openRegistrations: boolean | null
  users: number | null
  localPosts: number | null
  localComments: number | null
}

const info = z
  .object({
    software: z.object({ name: text(100), version: optional(text(100)) }),
    openRegistrations: optionalBoolean,
    usage: optional(
      z.object({
        users: optional(z.object({ total: optionalCount })),
        localPosts: optionalCount,
        localComments: optionalCount,
      }),
    ),
  })
  .transform(
    ({ software, openRegistrations, usage }): NodeInfoDocument => ({
      software: software.name.toLowerCase(),
      version: software.version ?? '',
      openRegistrations,
      users: usage?.users?.total ?? null,
      localPosts: usage?.localPosts ?? null,
      localComments: usage?.localComments ?? null,
    }),
  )

/** Reads a NodeInfo document of any version. */
export const readNodeInfo = (document: unknown): Read<NodeInfoDocument> => readWith(info, document)

export interface NodeInfoInput {
  /** Version 2.1 contains the addresses of the source and the project, if they are known. */
  software: { name: string; version: string; repository?: string | undefined; homepage?: string | undefined }
  openRegistrations: boolean
  users: { total: number; activeMonth: number; activeHalfyear: number }
  localPosts: number
  localComments: number
  nodeName: string
  nodeDescription: string
  /** Public configuration for clients. */
  nodeConfig: JsonObject
}

/** The local NodeInfo document. Version 2.1 contains the address of the source. */
export function buildNodeInfo(version: '2.0' | '2.1', input: NodeInfoInput): JsonObject {
  const { name, version: release, repository, homepage } = input.software
  return {
    version,
    software: {
      name,
      version: release,
      ...(version === '2.1' && repository ? { repository } : {}),
      ...(version === '2.1' && homepage ? { homepage } : {}),
    },
    protocols: ['activitypub'],
    services: { inbound: [], outbound: ['atom1.0', 'rss2.0'] },
    openRegistrations: input.openRegistrations,
    usage: { users: input.users, localPosts: input.localPosts, localComments: input.localComments },
    metadata: {
      taxonomy: { postsName: 'Videos' },
      nodeName: input.nodeName,
      nodeDescription: input.nodeDescription,
      nodeConfig: input.nodeConfig,
    },
  }
}

/** The content type of a NodeInfo document. */
export const nodeInfoType = (version: '2.0' | '2.1'): string => `application/json; charset=utf-8; profile="${SCHEMA}${version}#"`
