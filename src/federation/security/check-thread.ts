// Checks signatures in documents of others, in a thread of its own: the cost of canonicalising depends on the document.

import { createHash, verify } from 'node:crypto'
import jsonld from '@fedify/vocab-runtime/jsonld'
import { serveTasks } from '../../platform/worker-thread.ts'
import { contextOf, type JsonObject, kindOf } from '../wire/context.ts'
import { canonicalJson, proofInput } from './canonical-json.ts'
import { isUnderstandable, loadBundledContext } from './contexts.ts'
import type { CheckResult, CheckTask } from './document-checks.ts'
import { isObject, without } from './json.ts'

/** Characters. Statements that are short with their context can be long without it. */
const LARGEST_REWRITTEN = 1_000_000

serveTasks<CheckTask, CheckResult>(async (task) => {
  const document = JSON.parse(task.document) as JsonObject
  return task.kind === 'proof' ? checkProof(document, task) : await checkLdSignature(document, task.pem)
})

/** RsaSignature2017: over the statements of its own options, and those of the document without it. */
async function checkLdSignature(document: JsonObject, pem: string): Promise<CheckResult> {
  const { type: _type, id: _id, signatureValue, ...options } = isObject(document.signature) ? document.signature : {}
  const unsigned = without(document, 'signature')
  const message = (await hashOfStatements({ ...options, '@context': 'https://w3id.org/identity/v1' })) + (await hashOfStatements(unsigned))
  const signature = Buffer.from(String(signatureValue), 'base64')
  if (!verify('sha256', Buffer.from(message), pem, signature)) return { verdict: 'bad-signature' }
  const trusted = await rewritten(unsigned)
  return trusted === undefined ? { verdict: 'unverifiable' } : { verdict: 'good', document: trusted }
}

async function hashOfStatements(document: JsonObject): Promise<string> {
  const statements = await jsonld.canonize(document, {
    format: 'application/n-quads',
    documentLoader: loadBundledContext,
  })
  return createHash('sha256').update(String(statements)).digest('hex')
}

/** The signed statements in the local context, as text; undefined if they do not describe the same activity. */
async function rewritten(document: JsonObject): Promise<string | undefined> {
  const context = contextOf(kindOf(document))
  const compacted: unknown = await jsonld.compact(document, { '@context': context }, { documentLoader: loadBundledContext })
  if (!isObject(compacted) || !isUnderstandable(compacted)) return undefined
  const isSame = ['id', 'type', 'actor'].every((key) => compacted[key] === document[key])
  const text = JSON.stringify(without(compacted, 'proof'))
  return isSame && text.length <= LARGEST_REWRITTEN ? text : undefined
}

/** FEP-8b32, eddsa-jcs-2022: over the canonical JSON of the configuration of the proof, and of the document. */
function checkProof(document: JsonObject, task: Extract<CheckTask, { kind: 'proof' }>): CheckResult {
  const { proof, pem, signature } = task
  const context = document['@context']
  // A proof may repeat the context; a different one would change the meaning of the terms.
  if (proof['@context'] !== undefined && canonicalJson(proof['@context']) !== canonicalJson(context)) {
    return { verdict: 'bad-signature' }
  }
  const configuration = without(proof, 'proofValue')
  const configurations =
    proof['@context'] === undefined && context !== undefined ? [{ ...configuration, '@context': context }, configuration] : [configuration]
  const unsigned = without(document, 'proof')
  // An LD signature is added after the proof, so the proof does not cover it.
  const documents = 'signature' in unsigned ? [without(unsigned, 'signature'), unsigned] : [unsigned]
  const isGood = documents.some((body) => configurations.some((one) => verify(null, proofInput(body, one), pem, signature)))
  return { verdict: isGood ? 'good' : 'bad-signature' }
}
