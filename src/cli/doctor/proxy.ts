// The proxy in front of the server: whether it is trusted, and whether it sends the files itself.

import { isPublic, thumbnailTypes } from '../../actors/video/index.ts'
import { type Check, DATABASE_LIMIT, type Patient, type Say } from './check.ts'

/** Trusting them means trusting everybody. */
const EVERYBODY = ['0.0.0.0/0', '::/0', 'true', '*']
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1', '[::1]'])

export const proxyCheck: Check = {
  name: 'proxy',
  limit: DATABASE_LIMIT,
  async run(patient, say, signal) {
    lookAtTrust(patient, say)
    if (patient.loaded.config.vireo.delivery.x_accel_location === null) {
      say.ok('Files are sent by this server itself (vireo.delivery.x_accel_location is not set).')
    } else await lookAtAcceleration(patient, say, signal)
  },
}

function lookAtTrust({ loaded: { config, publicUrl } }: Patient, say: Say): void {
  const { trust_proxy, listen } = config
  const { protocol, port } = new URL(publicUrl)
  const publicPort = Number(port || (protocol === 'https:' ? 443 : 80))
  const isBehind = protocol === 'https:' || publicPort !== listen.port
  const isElsewhere = !LOOPBACK.has(listen.hostname) && trust_proxy.every((one) => one === 'loopback')
  if (trust_proxy.some((one) => EVERYBODY.includes(one))) {
    say.problem(
      'The address that a client claims is always trusted (trust_proxy), which makes rate limits ineffective.',
      'Name the addresses of the proxies in trust_proxy.',
    )
  } else if (!isBehind) {
    say.ok('There is no proxy in front: the public port is the one it listens on.')
  } else if (trust_proxy.length === 0) {
    say.problem(
      'The proxy in front is not believed (trust_proxy is empty): all clients seem to be one.',
      'Set trust_proxy to the address of the proxy.',
    )
  } else if (isElsewhere) {
    say.warning(
      'Only a proxy on this machine is believed (trust_proxy), while others can reach the server too.',
      'If the proxy is on another machine, name it in trust_proxy.',
    )
  } else say.ok(`X-Forwarded-For is believed of ${trust_proxy.join(', ')}.`)
}

/** Reads the first bytes of a public picture, like a browser. */
async function lookAtAcceleration(patient: Patient, say: Say, signal: AbortSignal): Promise<void> {
  const database = await patient.database().catch(() => undefined)
  const [picture] = database
    ? await database.query<{ filename: string }>(
        `select t.filename from thumbnail t join video v on v.id = t.video_id
         where not v.remote and ${isPublic('v')} and t.on_disk and t.type = ${thumbnailTypes.miniature}
         order by t.id desc limit 1`,
      )
    : []
  if (!picture) {
    const advice = 'Publish a video, then look again.'
    return say.warning('There is no picture to see with whether the proxy sends files itself.', advice)
  }
  const url = new URL(`/lazy-static/thumbnails/${picture.filename}`, patient.loaded.publicUrl)
  const answer = await fetch(url, { signal, redirect: 'manual' })
  const bytes = (await answer.arrayBuffer()).byteLength
  if (answer.status === 200 && bytes > 0 && !answer.headers.has('x-accel-redirect')) {
    return say.ok('The proxy sends files itself (X-Accel-Redirect).')
  }
  say.problem(
    `The proxy does not act on X-Accel-Redirect: ${url.pathname} is answered with ${answer.status} and ${bytes} bytes.`,
    'Give nginx the internal locations that the documentation lists, or unset vireo.delivery.x_accel_location.',
  )
}
