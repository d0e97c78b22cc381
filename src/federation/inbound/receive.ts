// The inbox: a posted activity is parsed, checked by the policy, verified with known keys, and stored; nothing is fetched while the sender
// waits. Activities with unknown keys are stored apart until their key is fetched.

import { findActorByUrl } from '../../actors/actor/index.ts'
import type { ArrivedActivity, IncomingActivities } from '../../actors/incoming-activity/index.ts'
import type { Blocks } from '../blocked.ts'
import type { FederationDeps } from '../deps.ts'
import { claimedKeyId, type HeaderValues, hostOfKey, type InboundVerdict, isSameOrigin, verifyInbound } from '../security/index.ts'
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
import { makeAuthenticateSender, type Proof } from './authenticate-sender.ts'
import { subjectOf } from './order.ts'
import { type About, aboutActivity, type CountOf, type Decision, type InboundPolicy, isRemark } from './policy/index.ts'
import { signedParts } from './signed-parts.ts'

export interface InboxRequest {
  method: string
  /** The full URL that the sender signed. */
  url: string
  /** The path of the inbox, without redundant slashes. */
  path: string
  headers: HeaderValues
  body: Buffer
  /** IP address of the sender. */
  from: string
}

/** The status of the response, with a reason for the log if it is a refusal, and Retry-After if that helps. */
export interface InboxAnswer {
  status: 204 | 400 | 401 | 403 | 404 | 413 | 429
  reason?: string
  retryAfterMs?: number
}

export type ReceiveActivity = (request: InboxRequest) => Promise<InboxAnswer>

const TAKEN: InboxAnswer = { status: 204 }
/** The body of a sender that is refused by its claimed identity is still parsed for the log, up to this size in bytes. */
const QUICKLY_READ = 65_536
const MINUTE_MS = 60_000

export function makeReceiveActivity(
  deps: FederationDeps & { incoming: IncomingActivities; policy: InboundPolicy; countOf: CountOf },
): ReceiveActivity {
  const { db, keys, clock, config, logger, urls, incoming, blocked, policy, countOf } = deps
  const strangers = makeAllowance({ clock, perMinute: () => config().vireo.federation.inbox.unverified_per_address })
  const prove = makeAuthenticateSender(deps)

  return async (request) => {
    const answer = await receive(request)
    if (answer.reason) logger.debug({ status: answer.status, reason: answer.reason }, 'an inbox refused')
    return answer
  }

  async function receive(request: InboxRequest): Promise<InboxAnswer> {
    const { max_body_size, max_comment_size } = config().vireo.federation.inbox
    if (!(await isInbox(request.path))) return { status: 404, reason: 'there is no such inbox' }
    const body = { bytes: request.body.length, max: max_body_size }
    const tooLarge = answerTo(policy.judge({ body }, NOBODY))
    if (tooLarge) return tooLarge
    // A claim is enough for a refusal: nobody gains by such a lie, and it saves the costly part.
    const keyId = claimedKeyId(request.headers)
    const claimed = keyId === undefined ? undefined : await blocked.ofKey(keyId, keys.find)
    if (keyId !== undefined && claimed && isBlocked(claimed) && !isFollow(request.body)) {
      return refuseBlocked(request, claimed, hostOfKey(keyId))
    }

    const parsed = parseDocument(request.body, { ...ACTIVITY_BOUNDS, maxBytes: max_body_size })
    if (!parsed.ok) return { status: 400, reason: parsed.problem }
    const { isCollection, activities } = activitiesOf(parsed.value)
    if (body.bytes > max_comment_size) {
      for (const document of activities as JsonObject[]) {
        if (!isRemark(document)) continue
        const bytes = isCollection ? Buffer.byteLength(JSON.stringify(document)) : body.bytes
        const remark = { bytes, max: max_comment_size }
        // The sender is unknown: a name that anybody can write does not count.
        const refused = answerTo(policy.judge({ remark }, { ...aboutDocument(document), host: '' }))
        if (refused) return refused
      }
    }

    const signer = await identify(request)
    const owner = ownerOf(signer) ?? claimed?.owner
    const blocks = owner === undefined || owner === claimed?.owner ? claimed : await blocked.ofKey(owner, keys.find)
    // A known but blocked requester of a follow gets a Reject, since its sender would wait; nothing is fetched from blocked servers.
    if (owner !== undefined && blocks && isBlocked(blocks) && !(signer.ok && isFollow(request.body))) {
      return refuseBlocked(request, blocks, hostOfKey(owner))
    }
    let answer = TAKEN
    for (const document of activities) {
      const read = readActivity(document)
      if (!read.ok) {
        // An unsupported activity is no error of the peer; a body that is no activity is.
        if (!isCollection && typeOf(document) === undefined) answer = { status: 400, reason: read.problem }
        continue
      }
      const result = await accept(request, read.value, document as JsonObject, signer)
      if (result.status !== 204) answer = result
    }
    return answer
  }

  function refuseBlocked(request: InboxRequest, blocks: Blocks, host = ''): InboxAnswer {
    const parsed = request.body.length > QUICKLY_READ ? undefined : parseDocument(request.body)
    const about = parsed?.ok ? aboutDocument(activitiesOf(parsed.value).activities[0]) : NOBODY
    const decision = policy.judge({ blocked: { ...blocks, isForwarded: false } }, { ...about, host })
    return answerTo(decision) ?? TAKEN
  }

  /** True if something of an actor could be stored here. */
  async function isKnown(actorUrl: string): Promise<boolean> {
    return (await findActorByUrl(db.query, actorUrl)) !== undefined
  }

  /** By the cached key; if that does not fit, by the stored one. */
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

  /** The shared inbox, or that of a local actor. */
  async function isInbox(pathname: string): Promise<boolean> {
    if (`${urls.origin}${pathname}` === urls.sharedInbox) return true
    const found = await findActorByUrl(db.query, `${urls.origin}${pathname.replace(/\/inbox$/, '')}`)
    return found?.isLocal === true && !found.isGone
  }

  async function accept(
    request: InboxRequest,
    activity: ActivityDocument,
    document: JsonObject,
    signer: InboundVerdict,
  ): Promise<InboxAnswer> {
    const unwanted = await answerByPolicy(activity, signer)
    if (unwanted) return unwanted
    const proof = await prove(activity, document, { signer, from: request.from })
    if (proof.by === 'nobody') return answerToNobody(activity, proof)
    if (proof.by === 'before') return { status: 204, reason: 'it came before' }
    if (proof.by === 'later') {
      if (isOwnEnd(activity) && !(await isKnown(activity.actor))) {
        return { status: 204, reason: 'nothing of this actor is here' }
      }
      if (!strangers.admits(request.from)) return tooManyStrangers(activity)
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
    return stored === 'refused' ? tooManyStrangers(activity) : TAKEN
  }

  /** The actor is checked before the counts: what is dropped does not count. */
  async function answerByPolicy(activity: ActivityDocument, signer: InboundVerdict): Promise<InboxAnswer | undefined> {
    const sender = signer.ok ? new URL(signer.owner).host : undefined
    // The signer has been checked already.
    const isSigner = signer.ok && signer.owner === activity.actor
    const isOurActor = isSameOrigin(activity.actor, urls.origin)
    const blocks = isSigner || isOurActor ? undefined : await blocked.of(activity.actor)
    const decision = policy.judge(
      {
        isOurActor,
        isIdForeign: !isSameOrigin(activity.id, activity.actor) && !isOwnersDelete(activity),
        ...(blocks ? { blocked: { ...blocks, isForwarded: signer.ok } } : {}),
      },
      aboutActivity(activity, blocks && isBlocked(blocks) ? undefined : (sender ?? '')),
    )
    const answer = answerTo(decision)
    if (answer || sender === undefined) return answer
    return answerTo(policy.judge({ counts: await countOf(sender, activity) }, aboutActivity(activity, sender)))
  }

  function tooManyStrangers(activity: ActivityDocument): InboxAnswer {
    policy.note({ ...aboutActivity(activity, ''), verdict: 'later', reason: 'too_many_unknown_keys' })
    return { status: 429, reason: 'too many activities with unknown keys', retryAfterMs: MINUTE_MS }
  }

  /** A Delete of an actor whose key is gone cannot be verified, and needs no error response. */
  function answerToNobody(activity: ActivityDocument, proof: Extract<Proof, { by: 'nobody' }>): InboxAnswer {
    const { reason, status } = proof
    if (isOwnEnd(activity)) return { status: 204, reason }
    const about = aboutActivity(activity, '')
    if (status !== 429) policy.note({ ...about, verdict: 'refuse', reason: 'unproven_sender' })
    else policy.note({ ...about, verdict: 'later', reason: 'too_many_proofs' })
    return { status, reason, ...(status === 429 ? { retryAfterMs: MINUTE_MS } : {}) }
  }
}

const NOBODY: About = { kind: 'Other', host: '', actorUrl: null, activityId: null }

/** An actor that deletes itself. */
const isOwnEnd = ({ type, actor, object }: ActivityDocument): boolean => type === 'Delete' && object?.id === actor

const isBlocked = ({ isServer, isActor }: Blocks): boolean => isServer || isActor

/** True if the body is a single Follow. */
function isFollow(body: Buffer): boolean {
  if (body.length > QUICKLY_READ) return false
  const parsed = parseDocument(body)
  return parsed.ok && typeOf(parsed.value) === 'Follow'
}

/** The claims of a document. */
function aboutDocument(document: unknown): About {
  const read = readActivity(document)
  return read.ok ? aboutActivity(read.value) : NOBODY
}

/** Undefined if it passes, or is stored anyway. */
function answerTo(decision: Decision): InboxAnswer | undefined {
  const { verdict } = decision
  if (verdict === 'refuse') return { status: decision.status, reason: decision.reason }
  if (verdict === 'later') return { status: 429, reason: decision.reason, retryAfterMs: decision.retryAfterMs }
  return verdict === 'drop' ? { status: 204, reason: decision.reason } : undefined
}

/** The known or claimed owner: a key that is not fetched yet names its server. */
function ownerOf(signer: InboundVerdict): string | undefined {
  if (signer.ok) return signer.owner
  return signer.reason === 'unknown-key' ? signer.unknownKey.split('#', 1)[0] : signer.key?.owner
}

/**
 * PeerTube uses the comment's id in the Delete of a comment, even if the owner of the video removes a remote comment. Ids are stored per
 * actor, so this one blocks nobody else's.
 */
const isOwnersDelete = ({ type, id, object }: ActivityDocument): boolean =>
  type === 'Delete' && object?.id != null && isSameOrigin(id, object.id)
