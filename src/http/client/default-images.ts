// Pictures that clients, feeds and browsers expect at fixed addresses below `/client/assets/images/`: icons of the instance, made from its
// avatar or the default logo, and default avatars of accounts and channels. Made on the first request.

import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { InstanceFactsReader } from '../../actors/instance/index.ts'
import { type FileRef, MediaError, renderIcon, type Store } from '../../media/index.ts'
import { makeLru } from '../../platform/lru.ts'
import { etagOf } from '../plugins/conditional.ts'

export interface Picture {
  body: Buffer
  etag: string
  type: string
}

export type DefaultImages = ReturnType<typeof makeDefaultImages>

/** px; the sizes in the manifest. */
export const ICON_SIZES = [36, 48, 72, 96, 144, 192, 512] as const
const FAVICON = { path: 'assets/images/favicon.png', size: 32 }
const FOLDER = 'assets/images'

/** px of the icons, by path. */
const ICONS = new Map<string, number>([
  [FAVICON.path, FAVICON.size],
  ...ICON_SIZES.map((size) => [`${FOLDER}/icons/icon-${size}x${size}.png`, size] as const),
])

/** Default avatars, by path. */
const AVATARS = new Map<string, { drawing: Drawing; size: number }>(
  (['account', 'channel'] as const).flatMap((drawing) => {
    const name = `${FOLDER}/default-avatar-${drawing === 'channel' ? 'video-channel' : drawing}`
    return [
      [`${name}.png`, { drawing, size: 120 }],
      [`${name}-48x48.png`, { drawing, size: 48 }],
    ] as const
  }),
)

type Drawing = 'mark' | 'account' | 'channel'
/** Bytes; stored avatars are much smaller. */
const LARGEST_AVATAR = 16 * 1024 * 1024

const readDrawing = (drawing: Drawing): Promise<Buffer> => readFile(new URL(`images/${drawing}.svg`, import.meta.url))

export function makeDefaultImages(deps: { facts: Pick<InstanceFactsReader, 'recent'>; store: Store }) {
  const { facts, store } = deps
  const made = makeLru<string, Picture, { make: () => Promise<Buffer>; type: string }>(100, {
    async fetchMethod(_key, _stale, { context: { make, type } }) {
      const body = await make()
      return { body, etag: etagOf(body), type }
    },
  })
  const once = (key: string, make: () => Promise<Buffer>, type = 'image/png') => made.forceFetch(key, { context: { make, type } })

  /** The smallest stored avatar that is large enough, or the largest. */
  async function avatarFor(size: number): Promise<FileRef | undefined> {
    const { avatars } = await facts.recent()
    const fitting = avatars.findLast(({ width }) => (width ?? 0) >= size) ?? avatars[0]
    return fitting && { kind: 'avatars', name: fitting.filename }
  }

  async function ofAvatar(size: number): Promise<Picture | undefined> {
    const ref = await avatarFor(size)
    if (!ref) return undefined
    try {
      return await once(`${ref.name} ${size}`, async () => {
        const { stat, stream } = await store.open(ref)
        if (stat.size > LARGEST_AVATAR) {
          stream.destroy()
          throw new MediaError('too-large', 'The avatar is too large for an icon.')
        }
        return await renderIcon(await buffer(stream), size)
      })
    } catch (error) {
      // It is being replaced, or lost: use the default logo.
      if (error instanceof MediaError) return undefined
      throw error
    }
  }

  const drawn = (drawing: Drawing, size: number): Promise<Picture> =>
    once(`${drawing}.svg ${size}`, async () => await renderIcon(await readDrawing(drawing), size))

  return {
    /** The icon of the instance; undefined for other paths (below `/client/`), and without an avatar. */
    async ofInstance(path: string): Promise<Picture | undefined> {
      const size = ICONS.get(path)
      return size === undefined ? undefined : await ofAvatar(size)
    },
    /** The built-in picture for a path below `/client/`; undefined for others. */
    async own(path: string): Promise<Picture | undefined> {
      if (path === `${FOLDER}/logo.svg`) return await once('logo.svg', () => readDrawing('mark'), 'image/svg+xml')
      const size = ICONS.get(path)
      if (size !== undefined) return await drawn('mark', size)
      const avatar = AVATARS.get(path)
      return avatar && (await drawn(avatar.drawing, avatar.size))
    },
    /** For `/favicon.ico`. */
    async favicon(): Promise<Picture> {
      const { etag, body } = (await ofAvatar(FAVICON.size)) ?? (await drawn('mark', FAVICON.size))
      return await once(`favicon.ico ${etag}`, async () => iconFile(body, FAVICON.size), 'image/x-icon')
    },
  }
}

/** A PNG in ICO format: a header, one directory entry, and the unchanged picture. */
function iconFile(png: Buffer, size: number): Buffer {
  const head = Buffer.alloc(22)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(1, 4)
  head.writeUInt8(size, 6)
  head.writeUInt8(size, 7)
  head.writeUInt16LE(1, 10)
  head.writeUInt16LE(32, 12)
  head.writeUInt32LE(png.length, 14)
  head.writeUInt32LE(head.length, 18)
  return Buffer.concat([head, png])
}
