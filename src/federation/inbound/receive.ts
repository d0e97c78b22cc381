// The door: what is posted to an inbox is read, its signature checked with keys that we have, and stored; nothing is
// fetched while the sender waits. Activities with unknown keys are kept apart until their key was fetched.

import type { ArrivedActivity, IncomingActivities } from '../../actors/incoming-activity/index.ts'
import type { FederationDeps } from '../deps.ts'
import { type HeaderValues, type InboundVerdict, isSameOrigin, verifyInbound } from '../security/index.ts'
import {
  ACTIVITY_BOUNDS,
  type ActivityDocument,
  activitiesOf,
  type JsonObject,
  parseDocument,
  readActivity,
  typeOf,
} from '../wire/index.ts'
import { makeAllowance } from './allowance.ts'
import { believe } from './believe.ts'
import { saidAt, subjectOf } from './order.ts'

export interface InboxRequest {
  method: string
  /** The whole address that the sender signed. */
  url: string
  headers: HeaderValues
  body: Buffer
  /** The IP address that it came from. */
  from: string
}

/** The status to answer, with a reason for the log where it is a refusal. */
export interface InboxAnswer {
  status: 204 | 400 | 401 | 403 | 404 | 413 | 429
  reason?: string
}

/** How the sender of a document is known. `later`: the key has to be fetched first. */
type Proof =
  | { by: 'known'; document: JsonObject; saidAt: Date | null; forwarded: boolean }
  | { by: 'later' }
  /** It had its effect already. */
  | { by: 'before' }
  | { by: 'nobody'; status: 401 | 403 | 413 | 429; reason: string }

export type ReceiveActivity = (request: InboxRequest) => Promise<InboxAnswer>

export function makeReceiveActivity(deps: FederationDeps & { incoming: IncomingActivities }): ReceiveActivity {
  const { db, keys, clock, config, logger, urls, incoming, blocked } = deps
  const strangers = makeAllowance({ clock, perMinute: () => config().vireo.federation.inbox.unverified_per_address })
  // Checking a signature inside a document takes long; whoever sends wrong ones does not get many checked.
  const failures = makeAllowance({ clock, perMinute: () => config().vireo.federation.inbox.failed_proofs_per_address })

  // Good ones too: whoever passes on what it signed itself has as many of them as it likes.
  const proofs = makeAllowance({ clock, perMinute: () => config().vireo.federation.inbox.proofs_per_host })

  return async (request) => {
    const answer = await receive(request)
    if (answer.reason) logger.debug({ status: answer.status, reason: answer.reason }, 'an inbox refused')
    return answer
  }

  async function receive(request: InboxRequest): Promise<InboxAnswer> {
    const { max_body_size } = config().vireo.federation.inbox
    if (!(await isInbox(request.url))) return { status: 404, reason: 'there is no such inbox' }
    if (request.body.length > max_body_size) return { status: 413, reason: 'too large' }
    const parsed = parseDocument(request.body, { ...ACTIVITY_BOUNDS, maxBytes: max_body_size })
    if (!parsed.ok) return { status: 400, reason: parsed.problem }

    const signer = await identify(request)
    if (await isBlockedSigner(signer)) return { status: 403, reason: 'the sender is blocked' }
    const { isCollection, activities } = activitiesOf(parsed.value)
    let answer: InboxAnswer = { status: 204 }
    for (const document of activities) {
      const read = readActivity(document)
      if (!read.ok) {
        // Unknown things are no error of the peer; a body that is no activity at all is.
        if (!isCollection && typeOf(document) === undefined) answer = { status: 400, reason: read.problem }
        continue
      }
      const result = await accept(request, read.value, document as JsonObject, signer)
      if (result.status !== 204) answer = result
    }
    return answer
  }

  /** Whether anything of an actor could be here. */
  async function isKnown(actorUrl: string): Promise<boolean> {
    const found = await db.query('select 1 from actor where url_hash = md5($1)::uuid and url = $1', [actorUrl])
    return found.length > 0
  }

  /** By the key that we remember; when that does not fit, by the one that is stored now. */
  async function identify(request: InboxRequest): Promise<InboundVerdict> {
    const message = {
      ...request,
      rawBody: request.body,
      now: clock.now(),
      skewMs: config().vireo.federation.inbox.clock_skew,
    }
    const verdict = await verifyInbound({ ...message, findKey: keys.find })
    const mayBeOld = !verdict.ok && (verdict.reason === 'bad-signature' || verdict.reason === 'weak-key')
    return mayBeOld ? await verifyInbound({ ...message, findKey: keys.findFresh }) : verdict
  }

  /** The shared one, or that of an actor that we have. */
  async function isInbox(url: string): Promise<boolean> {
    const { pathname } = new URL(url)
    if (`${urls.origin}${pathname}` === urls.sharedInbox) return true
    const found = await db.query(
      'select 1 from actor where url_hash = md5($1)::uuid and url = $1 and host_id is null and deleted_at is null',
      [`${urls.origin}${pathname.replace(/\/inbox$/, '')}`],
    )
    return found.length > 0
  }

  async function accept(
    request: InboxRequest,
    activity: ActivityDocument,
    document: JsonObject,
    signer: InboundVerdict,
  ): Promise<InboxAnswer> {
    if (isSameOrigin(activity.actor, urls.origin))
      return { status: 403, reason: 'an actor of ours does not write to us' }
    // Whoever signed was looked at already.
    const isSigner = signer.ok && signer.owner === activity.actor
    if (!isSigner && (await blocked.actor(activity.actor))) return answerToBlocked(activity, signer)
    if (!isSameOrigin(activity.id, activity.actor) && !isOwnersDelete(activity))
      return { status: 204, reason: 'the id is of another server' }
    const proof = await prove(activity, document, { signer, from: request.from })
    if (proof.by === 'nobody') return answerToNobody(activity, proof)
    if (proof.by === 'before') return { status: 204, reason: 'it came before' }
    if (proof.by === 'later') {
      if (activity.type === 'Delete' && !(await isKnown(activity.actor))) {
        return { status: 204, reason: 'nothing of this actor is here' }
      }
      if (!strangers.admits(request.from)) return { status: 429, reason: 'too many activities with unknown keys' }
    }
    const believed = proof.by === 'known' ? readActivity(proof.document) : ({ ok: true, value: activity } as const)
    if (!believed.ok) return { status: 400, reason: believed.problem }
    const arrived: ArrivedActivity = {
      activityId: activity.id,
      type: activity.type,
      actorUrl: activity.actor,
      host: new URL(activity.actor).host,
      body: JSON.stringify(proof.by === 'known' ? proof.document : document),
      proof: proof.by === 'known' ? null : signedParts(request),
      saidAt: proof.by === 'known' ? proof.saidAt : null,
      subject: subjectOf(believed.value),
      once: proof.by === 'known' && proof.forwarded,
    }
    const stored = await incoming.store(arrived)
    return stored === 'refused' ? { status: 429, reason: 'too many activities with unknown keys' } : { status: 204 }
  }

  /** Whom we know or who says so: a key that is not fetched yet names its server. */
  async function isBlockedSigner(signer: InboundVerdict): Promise<boolean> {
    if (signer.ok) return await blocked.actor(signer.owner)
    if (signer.reason === 'unknown-key') return await blocked.host(signer.unknownKey)
    return signer.key !== undefined && (await blocked.actor(signer.key.owner))
  }

  /** Whoever passes on what a blocked actor said did nothing wrong, and need not count us as broken. */
  function answerToBlocked(activity: ActivityDocument, signer: InboundVerdict): InboxAnswer {
    return { status: signer.ok ? 204 : 403, reason: `${activity.actor} is blocked` }
  }

  async function prove(
    activity: ActivityDocument,
    document: JsonObject,
    { signer, from }: { signer: InboundVerdict; from: string },
  ): Promise<Proof> {
    if (signer.ok && signer.owner === activity.actor) {
      return { by: 'known', document, saidAt: saidAt(document, clock.now()), forwarded: false }
    }
    if (!signer.ok && signer.reason === 'unknown-key' && isOfServer(signer.unknownKey, activity.actor)) {
      // Its author may be known though the sender is not: then nothing has to be kept for later.
      const inside = await proveInside(activity, document, { signer, from })
      return inside === null || (inside.by === 'nobody' && inside.status !== 429) ? { by: 'later' } : inside
    }
    if (!signer.ok && signer.reason === 'bad-signature' && signer.key?.owner === activity.actor && isOld(signer.key)) {
      return { by: 'later' } // the key may have been replaced by its owner
    }
    const inside = await proveInside(activity, document, { signer, from })
    if (inside !== null) return inside
    if (signer.ok) return { by: 'nobody', status: 403, reason: 'signed by somebody else' }
    return { by: 'nobody', status: 401, reason: signer.reason }
  }

  /** By the signature or proof in the document; null when there is none. */
  async function proveInside(
    activity: ActivityDocument,
    document: JsonObject,
    { signer, from }: { signer: InboundVerdict; from: string },
  ): Promise<Proof | null> {
    if (!activity.hasSignature && !activity.hasProof) return null
    // Checking takes long, and it counts once.
    if (await incoming.knows({ activityId: activity.id, actorUrl: activity.actor })) return { by: 'before' }
    return await proveByDocument(document, { from, by: signer.ok ? new URL(signer.owner).host : from })
  }

  /** A forwarded activity: the HTTP signature is the forwarder's, the one inside the document its author's. */
  async function proveByDocument(document: JsonObject, { from, by }: { from: string; by: string }): Promise<Proof> {
    if (failures.isSpent(from)) return { by: 'nobody', status: 401, reason: 'too many wrong signatures' }
    if (proofs.isSpent(by)) return { by: 'nobody', status: 429, reason: 'too many signatures inside documents' }
    const keepIdsMs = config().vireo.federation.inbox.keep_ids
    const belief = await believe(document, { findKey: keys.findFresh, now: clock.now(), keepIdsMs })
    if (!belief.ok && belief.reason === 'unknown-key') return { by: 'later' }
    proofs.admits(by)
    if (belief.ok) return { by: 'known', document: belief.document, saidAt: belief.saidAt, forwarded: true }
    if (belief.reason === 'too-large')
      return { by: 'nobody', status: 413, reason: 'document: too large to be canonicalised' }
    failures.admits(from)
    return {
      by: 'nobody',
      status: belief.reason === 'not-by-actor' ? 403 : 401,
      reason: `document: ${belief.reason}`,
    }
  }

  function isOld(key: { fetchedAt: Date }): boolean {
    return clock.now().getTime() - key.fetchedAt.getTime() > config().vireo.federation.inbox.key_refetch_after
  }

  /** A Delete of an actor whose key is gone cannot be checked, and need not be: it is no reason for an error. */
  function answerToNobody(activity: ActivityDocument, proof: Extract<Proof, { by: 'nobody' }>): InboxAnswer {
    if (activity.type === 'Delete' && activity.object?.id === activity.actor)
      return { status: 204, reason: proof.reason }
    return { status: proof.status, reason: proof.reason }
  }
}

/** Whether a key id, an address or `acct:name@host`, is of the actor's server. */
function isOfServer(keyId: string, actor: string): boolean {
  if (!keyId.startsWith('acct:')) return isSameOrigin(keyId, actor)
  return keyId.slice(keyId.lastIndexOf('@') + 1).toLowerCase() === new URL(actor).host
}

/**
 * PeerTube names the Delete of a comment after the comment, also when the owner of the video removes what somebody of
 * another server wrote. Ids are kept for each actor, so this one stands in nobody's way.
 */
const isOwnersDelete = ({ type, id, object }: ActivityDocument): boolean =>
  type === 'Delete' && object?.id != null && isSameOrigin(id, object.id)

/** What the check of the signature needs later. */
export interface SignedParts {
  method: string
  url: string
  headers: HeaderValues
  /** The bytes that were signed, in base64. */
  body: string
}

const ALWAYS_KEPT = [
  'host',
  'date',
  'digest',
  'content-digest',
  'content-type',
  'content-length',
  'signature',
  'signature-input',
]
/** What a signature may cover but is nothing to be kept. */
const NEVER_KEPT = ['cookie', 'authorization', 'proxy-authorization']

/** The headers that the signature says to cover, in either form, and those that carry it. */
function signedParts(request: InboxRequest): Record<string, unknown> {
  const text = (name: string) => String(request.headers[name] ?? '')
  const authorization = /^signature\s/i.test(text('authorization')) ? text('authorization') : ''
  const covered = [
    ...(/\bheaders="([^"]*)"/i
      .exec(text('signature') || authorization)?.[1]
      ?.toLowerCase()
      .split(/\s+/) ?? []),
    ...[...text('signature-input').matchAll(/"([^"]+)"/g)].map(([, name = '']) => name.toLowerCase()),
  ].filter((name) => !NEVER_KEPT.includes(name))
  const names = new Set([...ALWAYS_KEPT, ...covered])
  const headers = {
    ...Object.fromEntries(Object.entries(request.headers).filter(([name]) => names.has(name))),
    ...(authorization === '' ? {} : { authorization }),
  }
  const parts: SignedParts = {
    method: request.method,
    url: request.url,
    headers,
    body: request.body.toString('base64'),
  }
  return { ...parts }
}
