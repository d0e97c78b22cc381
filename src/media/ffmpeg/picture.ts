// Filters for upright pictures with standard colours. Pure.

import type { Colours, VideoProbe } from './media-probe.ts'

export type Looks = Pick<VideoProbe, 'rotation' | 'rotatedByTag' | 'hdr' | 'colours' | 'pixelFormat'>

/**
 * Options of the input, and filters for its frames. ffmpeg applies a rotation in the stream's side data itself; only some versions apply
 * one in a tag, and are told not to.
 */
export function upright({ rotation, rotatedByTag }: Pick<Looks, 'rotation' | 'rotatedByTag'>) {
  if (!rotatedByTag) return { options: [], filters: [] }
  return { options: ['-noautorotate'], filters: TURNS[rotation] ?? [] }
}

const TURNS: Record<number, string[]> = {
  90: ['transpose=clock'],
  180: ['transpose=clock', 'transpose=clock'],
  270: ['transpose=cclock'],
}

/** Colours that standard screens cannot show: PQ, HLG, and BT.2020. */
export const isWide = ({ hdr, colours }: Pick<Looks, 'hdr' | 'colours'>): boolean =>
  hdr || [colours.matrix, colours.primaries].some((name) => name?.startsWith('bt2020') === true)

/** Filters from wider colours and RGB to BT.709; none for other sources. */
export function toStandardColours(looks: Looks, canToneMap: boolean): string[] {
  if (isWide(looks)) return canToneMap ? withZimg(looks) : byTable(looks)
  return isRgb(looks) ? ['scale=out_color_matrix=bt709:out_range=tv'] : []
}

/** Colour tags of the output: those converted to, or those of the source. */
export function colourOptions(looks: Looks): string[] {
  if (isWide(looks)) return [...tags({ matrix: BT709, primaries: BT709, transfer: BT709 }), '-color_range:v', 'tv']
  return tags(isRgb(looks) ? { ...looks.colours, matrix: BT709 } : looks.colours)
}

const BT709 = 'bt709'
const KNOWN = new Set([BT709, 'smpte170m', 'bt470bg', 'bt470m', 'smpte240m', 'gamma22', 'gamma28', 'iec61966-2-1'])

function tags({ matrix, primaries, transfer }: Colours): string[] {
  const pairs = [
    ['-colorspace:v', matrix],
    ['-color_primaries:v', primaries],
    ['-color_trc:v', transfer],
  ] as const
  return pairs.flatMap(([option, value]) => (value !== undefined && KNOWN.has(value) ? [option, value] : []))
}

const isRgb = ({ pixelFormat }: Pick<Looks, 'pixelFormat'>): boolean => /^(0?rgb|0?bgr|gbr|argb|abgr|pal8)/.test(pixelFormat)

function withZimg({ hdr, colours }: Looks): string[] {
  // zscale refuses unknown colours: missing values are guessed from the others.
  const said = [
    ...(colours.matrix === undefined ? ['min=2020_ncl'] : []),
    ...(colours.primaries === undefined ? ['pin=2020'] : []),
    ...(colours.transfer === undefined ? ['tin=2020_10'] : []),
  ]
  const from = (...options: string[]): string => `zscale=${[...said, ...options].join(':')}`
  if (!hdr) return [from('m=709', 'p=709', 't=709', 'r=tv')]
  return [from('t=linear', 'npl=100'), 'format=gbrpf32le', 'zscale=p=709', 'tonemap=hable:desat=0', 'zscale=t=709:m=709:r=tv']
}

/**
 * For a build without zimg: PQ (SMPTE ST 2084) is mapped by a table per channel, with a shoulder (Reinhard's, white at 1,000 cd/m²) instead
 * of clipped highlights. HLG is viewable as it is. Colours stay a little pale.
 */
function byTable({ colours }: Looks): string[] {
  const toBt709 = 'scale=in_color_matrix=bt2020:out_color_matrix=bt709:out_range=tv'
  if (colours.transfer !== 'smpte2084') return [toBt709]
  const light = 'st(0,pow(val/maxval,1/78.84375));st(1,100*pow(max(ld(0)-0.8359375,0)/(18.8515625-18.6875*ld(0)),6.277395))'
  const shown = `${light};maxval*pow(min(ld(1)*(1+ld(1)/100)/(1+ld(1)),1),1/2.4)`
  const table = ['r', 'g', 'b'].map((channel) => `${channel}='${shown}'`).join(':')
  return ['scale=in_color_matrix=bt2020', 'format=gbrp', `lutrgb=${table}`, 'scale=out_color_matrix=bt709:out_range=tv']
}
