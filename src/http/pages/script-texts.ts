// The texts of the scripts in the browser, as JSON in an attribute of their elements. Parameters are filled in by the scripts.

import { type Language, t } from '../../platform/language.ts'

const PLAYER = {
  auto: t('Auto'),
  original: t('Original'),
  lost: t('The connection was lost. Reload the page to try again.'),
  unplayable: t('This video cannot be played by this browser, or its files cannot be reached.'),
  over: t('This live is over.'),
}

const PAGE = {
  selectAll: t('Select all'),
  drop: t('Drop files here'),
  several: t('Each file gets its own name as title. Chapters and captions can be added on the page of each video.'),
  changeable: t('The details can be changed until the upload ends.'),
  details: t('Details'),
  thumbnail: t('Thumbnail'),
  chosenByServer: t('Chosen by the server'),
  pictureAt: t('The picture at {time}', { time: '{time}' }),
  chapters: t('Chapters'),
  caption: t('Captions'),
  without: t('Not added: {part}.', { part: '{part}' }),
  unfinished: t('Choose {name} again to continue at {percent} %.', { name: '{name}', percent: '{percent}' }),
  waits: t('Uploaded but for its end, which goes with the form.'),
  uploaded: t('Uploaded.'),
  edit: t('Edit the details'),
  back: t('Back'),
  lost: t('The connection is lost.'),
  again: t('Trying again …'),
  expired: t('The upload had expired.'),
  elsewhere: t('Another tab is sending this file. The button below continues it here.'),
  cancel: t('Cancel'),
  changed: t('The file has changed or cannot be read any more. Choose it again.'),
  empty: t('This file is empty.'),
  refused: t('Refused ({status})', { status: '{status}' }),
  notNotified: t('This browser does not allow notifications of this site.'),
}

const jsonOf = (texts: typeof PLAYER | typeof PAGE) => (language: Language) =>
  JSON.stringify(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.in(language)])))

export const playerTexts = jsonOf(PLAYER)
export const pageTexts = jsonOf(PAGE)
