// English labels of the numbers and codes of videos, as clients and other servers read them.

import { isDeepStrictEqual } from 'node:util'
import { stateId, type VideoState } from '../../state-machines/video.ts'

/** `VideoCategory` of the contract. */
export const categoryLabels: Readonly<Record<number, string>> = {
  1: 'Music',
  2: 'Films',
  3: 'Vehicles',
  4: 'Art',
  5: 'Sports',
  6: 'Travels',
  7: 'Gaming',
  8: 'People',
  9: 'Comedy',
  10: 'Entertainment',
  11: 'News & Politics',
  12: 'How To',
  13: 'Education',
  14: 'Activism',
  15: 'Science & Technology',
  16: 'Animals',
  17: 'Kids',
  18: 'Food',
}

/** `VideoLicence` of the contract. */
export const licenceLabels: Readonly<Record<number, string>> = {
  1: 'Attribution',
  2: 'Attribution - Share Alike',
  3: 'Attribution - No Derivatives',
  4: 'Attribution - Non Commercial',
  5: 'Attribution - Non Commercial - Share Alike',
  6: 'Attribution - Non Commercial - No Derivatives',
  7: 'Public Domain Dedication',
}

/** `VideoPrivacy` of the contract. */
export const privacyLabels: Readonly<Record<number, string>> = {
  1: 'Public',
  2: 'Unlisted',
  3: 'Private',
  4: 'Internal',
  5: 'Password protected',
}

/** `VideoState` of the contract. */
const stateLabels: Readonly<Record<number, string>> = {
  1: 'Published',
  2: 'To transcode',
  3: 'To import',
  4: 'Waiting for livestream',
  5: 'Livestream ended',
  6: 'To move to an external storage',
  7: 'Transcoding failed',
  8: 'External storage move failed',
  9: 'To edit',
  10: 'To move to file system',
  11: 'Move to file system failed',
}

/** `VideoCommentPolicy` of the contract. */
export const commentsPolicyLabels: Readonly<Record<number, string>> = {
  1: 'Enabled',
  2: 'Disabled',
  3: 'Requires approval',
}

/** `VideoLanguage` of the contract: ISO 639 codes, sign languages among them. */
export const languageLabels: Readonly<Record<string, string>> = {
  id: 'Indonesian',
  aa: 'Afar',
  ab: 'Abkhazian',
  af: 'Afrikaans',
  ak: 'Akan',
  am: 'Amharic',
  an: 'Aragonese',
  ar: 'Arabic',
  as: 'Assamese',
  ase: 'American Sign Language',
  asq: 'Austrian Sign Language',
  av: 'Avaric',
  avk: 'Kotava',
  ay: 'Aymara',
  az: 'Azerbaijani',
  ba: 'Bashkir',
  be: 'Belarusian',
  bfi: 'British Sign Language',
  bg: 'Bulgarian',
  bi: 'Bislama',
  bm: 'Bambara',
  bn: 'Bengali',
  bo: 'Tibetan',
  br: 'Breton',
  bs: 'Bosnian',
  bzs: 'Brazilian Sign Language',
  ca: 'Catalan',
  'ca-valencia': 'Valencian',
  ce: 'Chechen',
  ch: 'Chamorro',
  co: 'Corsican',
  cr: 'Cree',
  cs: 'Czech',
  cse: 'Czech Sign Language',
  csl: 'Chinese Sign Language',
  cv: 'Chuvash',
  cy: 'Welsh',
  da: 'Danish',
  de: 'German',
  dsl: 'Danish Sign Language',
  dv: 'Dhivehi',
  dz: 'Dzongkha',
  ee: 'Ewe',
  el: 'Greek',
  en: 'English',
  eo: 'Esperanto',
  es: 'Spanish (Spain)',
  'es-419': 'Spanish (Latin America)',
  et: 'Estonian',
  eu: 'Basque',
  fa: 'Persian',
  ff: 'Fulah',
  fi: 'Finnish',
  fj: 'Fijian',
  fo: 'Faroese',
  fr: 'French',
  fse: 'Finnish Sign Language',
  fsl: 'French Sign Language',
  fy: 'Western Frisian',
  ga: 'Irish',
  gcf: 'Guadeloupean Creole French',
  gd: 'Scottish Gaelic',
  gl: 'Galician',
  gn: 'Guarani',
  gsg: 'German Sign Language',
  gu: 'Gujarati',
  gv: 'Manx',
  ha: 'Hausa',
  he: 'Hebrew',
  hi: 'Hindi',
  ho: 'Hiri Motu',
  hr: 'Croatian',
  ht: 'Haitian',
  hu: 'Hungarian',
  hy: 'Armenian',
  hz: 'Herero',
  ig: 'Igbo',
  ii: 'Sichuan Yi',
  ik: 'Inupiaq',
  is: 'Icelandic',
  it: 'Italian',
  iu: 'Inuktitut',
  ja: 'Japanese',
  jbo: 'Lojban',
  jsl: 'Japanese Sign Language',
  jv: 'Javanese',
  ka: 'Georgian',
  kab: 'Kabyle',
  kg: 'Kongo',
  ki: 'Kikuyu',
  kj: 'Kuanyama',
  kk: 'Kazakh',
  kl: 'Kalaallisut',
  km: 'Khmer',
  kn: 'Kannada',
  ko: 'Korean',
  kr: 'Kanuri',
  ks: 'Kashmiri',
  ku: 'Kurdish',
  kv: 'Komi',
  kw: 'Cornish',
  ky: 'Kirghiz',
  la: 'Latin',
  lb: 'Luxembourgish',
  lg: 'Ganda',
  li: 'Limburgan',
  ln: 'Lingala',
  lo: 'Lao',
  lt: 'Lithuanian',
  lu: 'Luba-Katanga',
  lv: 'Latvian',
  mg: 'Malagasy',
  mh: 'Marshallese',
  mi: 'Maori',
  mk: 'Macedonian',
  ml: 'Malayalam',
  mn: 'Mongolian',
  mr: 'Marathi',
  ms: 'Malay (macrolanguage)',
  mt: 'Maltese',
  my: 'Burmese',
  na: 'Nauru',
  nb: 'Norwegian Bokmål',
  nd: 'North Ndebele',
  ne: 'Nepali (macrolanguage)',
  ng: 'Ndonga',
  nl: 'Dutch',
  nn: 'Norwegian Nynorsk',
  no: 'Norwegian',
  nr: 'South Ndebele',
  nv: 'Navajo',
  ny: 'Nyanja',
  oc: 'Occitan',
  oj: 'Ojibwa',
  om: 'Oromo',
  or: 'Oriya (macrolanguage)',
  os: 'Ossetian',
  pa: 'Panjabi',
  pks: 'Pakistan Sign Language',
  pl: 'Polish',
  ps: 'Pushto',
  pt: 'Portuguese (Brazilian)',
  'pt-PT': 'Portuguese (Portugal)',
  qu: 'Quechua',
  rm: 'Romansh',
  rn: 'Rundi',
  ro: 'Romanian',
  rsl: 'Russian Sign Language',
  ru: 'Russian',
  rw: 'Kinyarwanda',
  sc: 'Sardinian',
  sd: 'Sindhi',
  sdl: 'Saudi Arabian Sign Language',
  se: 'Northern Sami',
  sfs: 'South African Sign Language',
  sg: 'Sango',
  sh: 'Serbo-Croatian',
  si: 'Sinhala',
  sk: 'Slovak',
  sl: 'Slovenian',
  sm: 'Samoan',
  sn: 'Shona',
  so: 'Somali',
  sq: 'Albanian',
  sr: 'Serbian',
  ss: 'Swati',
  st: 'Southern Sotho',
  su: 'Sundanese',
  sv: 'Swedish',
  sw: 'Swahili (macrolanguage)',
  swl: 'Swedish Sign Language',
  ta: 'Tamil',
  te: 'Telugu',
  tg: 'Tajik',
  th: 'Thai',
  ti: 'Tigrinya',
  tk: 'Turkmen',
  tl: 'Tagalog',
  tlh: 'Klingon',
  tn: 'Tswana',
  to: 'Tonga (Tonga Islands)',
  tok: 'Toki Pona',
  tr: 'Turkish',
  ts: 'Tsonga',
  tt: 'Tatar',
  tw: 'Twi',
  ty: 'Tahitian',
  ug: 'Uighur',
  uk: 'Ukrainian',
  ur: 'Urdu',
  uz: 'Uzbek',
  ve: 'Venda',
  vi: 'Vietnamese',
  wa: 'Walloon',
  wo: 'Wolof',
  xh: 'Xhosa',
  yi: 'Yiddish',
  yo: 'Yoruba',
  za: 'Zhuang',
  zh: 'Chinese',
  'zh-Hans': 'Simplified Chinese',
  'zh-Hant': 'Traditional Chinese',
  zu: 'Zulu',
  zxx: 'No linguistic content',
}

const UNKNOWN = 'Unknown'

const extensible = { category: categoryLabels, licence: licenceLabels, language: languageLabels } as const
export type ExtensibleLabels = keyof typeof extensible
/** Without those that were added. */
export const ownLabels = { category: { ...categoryLabels }, licence: { ...licenceLabels }, language: { ...languageLabels } }
const added = new Map<ExtensibleLabels, Record<string, string>>()

/** Adds labels to a table of this process, in place of those that were added before; its own stay as they are. */
export function setAddedLabels(kind: ExtensibleLabels, labels: Readonly<Record<string, string>>): void {
  const before = added.get(kind) ?? {}
  if (isDeepStrictEqual(before, labels)) return
  const table: Record<string, string> = extensible[kind]
  for (const key of Object.keys(before)) delete table[key]
  const fresh = Object.fromEntries(Object.entries(labels).filter(([key]) => !Object.hasOwn(table, key)))
  added.set(kind, fresh)
  Object.assign(table, fresh)
}

export interface Labelled<T> {
  id: T
  label: string
}

/** A number or code with its label; `Unknown` for null and for codes outside the table. */
export function labelled<T extends string | number | null>(labels: Readonly<Record<string | number, string>>, id: T): Labelled<T> {
  return { id, label: (id === null ? undefined : labels[id]) ?? UNKNOWN }
}

/** The number of a state with its label. An ended state has neither. */
export function labelledState(state: string): Labelled<number | null> {
  return labelled(stateLabels, stateId(state as VideoState) ?? null)
}

/** Lines of the smaller side as clients name them; 0 is sound only. */
export const resolutionLabel = (resolution: number): string => (resolution === 0 ? 'Audio only' : `${resolution}p`)
