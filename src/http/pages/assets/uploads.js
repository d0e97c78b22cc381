// Uploads: they begin with the choice of files, go on while the details are typed, after a reload or a lost connection, and end with the
// form. One loop makes one request after the other. One script with page.js, which follows.

globalThis.uploadForms = { beginUpload, confirmUploads }

const PIECE = 8 * 1024 * 1024
/** Bytes of each end of a file that it is known by. */
const SAMPLE = 1024 * 1024
const PAUSE_MS = 5000
/** A request without progress for so long is made again; the server may work twice as long on what it has got. */
const SILENCE_MS = 30_000
/** How often a sent upload is kept open: the server ends those that are silent for long, and a laptop may sleep in between. */
const RENEWAL_MS = 120_000
/** Where thumbnails are offered from, as shares of the video. */
const FRAMES = [0.05, 0.25, 0.5, 0.75]
const FRAME_WIDTH = 1280

/** The form of the page that uploads, its field of files, the list of what was chosen, and what is said of the fields below it. */
let form, input, list, hint
/**
 * The chosen files that have not arrived. `stage`: `waiting` for its lock, `sending`, `sent` but for its end, which goes with the form, or
 * `refused`; `finished` and `cancelled` ones are removed. `id`: at the server. `place`: bytes there, undefined if unknown. `isConfirmed`:
 * with the form, whose details are sent before the end of the file; `details`: those that were.
 */
const uploads = []
const isUnfinished = ({ stage }) => stage === 'sending' || stage === 'sent'
let isAtWork = false
/** How many files went with the form, without those that were cancelled since. */
let batch = 0

addEventListener('beforeunload', (event) => uploads.some(isUnfinished) && event.preventDefault())
addEventListener('pagehide', () => uploads.some(isUnfinished) && keepTyped(form))
setInterval(() => {
  for (const one of uploads) if (one.stage === 'sent') proceed(one)
}, RENEWAL_MS)

function beginUpload(found) {
  form = found
  input = form.querySelector('[type="file"][required]')
  // Archives and replacements are one file without a title.
  const { name, captionLanguage, captionfile } = form.elements
  for (const place of form.querySelectorAll('[data-scripted]')) place.hidden = false
  captionfile?.addEventListener('change', () => captionLanguage.toggleAttribute('required', captionfile.files.length > 0))
  input.multiple = Boolean(name)
  if (name) name.required = false
  form.querySelector('label').before(input.labels[0], input)
  const place = make('div', { className: 'drop' }, TEXTS.drop)
  // The page may have been replaced by an answer.
  list = make('ul', { className: 'uploads' }, ...uploads.map(({ row }) => row))
  hint = make('p', { className: 'soft', ariaLive: 'polite' })
  input.after(place, list, hint)
  place.ondragover = (event) => event.preventDefault()
  place.ondrop = (event) => {
    event.preventDefault()
    if (input.multiple || (!input.disabled && event.dataTransfer.files.length === 1)) choose(event.dataTransfer.files)
  }
  input.onchange = () => choose(input.files)
  settle()
  showUnfinished()
}

/** Uploads that were left: those to continue, and those whose end was not seen. Others run in another tab. */
async function showUnfinished() {
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  for (const kept of Object.keys(localStorage).filter((key) => key.startsWith(`unfinished ${form.dataset.upload} `))) {
    if (held.some(({ name }) => name === kept)) continue
    const { id, name, size } = JSON.parse(localStorage.getItem(kept))
    const { status, place, isDone, isUnknown, video } = await put({ id }, { size }).catch(() => ({}))
    if (uploads.some((one) => one.kept === kept)) continue
    if (status === 308) {
      const hint = TEXTS.unfinished.replace('{percent}', Math.floor((100 * place) / size)).replace('{name}', () => name)
      list.append(make('li', { className: 'left', title: name }, hint))
    } else if (isDone || isUnknown) localStorage.removeItem(kept)
    if (isDone) list.append(make('li', {}, name, ' ', ...arrived(video)))
  }
}

/** Adds files to the list. One that is there goes on, or is still refused. */
function choose(files) {
  for (const file of files) {
    const kept = `unfinished ${form.dataset.upload} ${file.lastModified} ${file.size} ${file.name}`
    if (uploads.some((one) => one.kept === kept)) continue
    for (const left of list.querySelectorAll('.left')) if (left.title === file.name) left.remove()
    const bar = make('progress', { max: file.size, ariaLabel: file.name, value: 0 })
    const [percent, note] = [make('span'), make('span', { ariaLive: 'polite' })]
    const row = make('li', {}, make('bdi', {}, file.name), ' ', bar, ' ', percent, ' ', note, ' ')
    row.append(make('button', { type: 'button', onclick: () => cancel(one) }, TEXTS.cancel))
    const one = { file, kept, row, bar, percent, note, stage: 'waiting' }
    uploads.push(one)
    list.append(row)
    hold(one)
  }
  // The same file can be chosen again.
  input.value = ''
  delete input.dataset.typed
  settle()
}

/** Puts an upload on a stage, and shows what is to be said about it. */
function tell(one, stage, note = '', isProblem = false) {
  if (['finished', 'refused', 'cancelled'].includes(stage)) {
    if (one.stage !== 'waiting') localStorage.removeItem(one.kept)
    if (stage !== 'refused') uploads.splice(uploads.indexOf(one), 1)
    one.hold?.resolve()
    one.hold = undefined
  }
  one.stage = stage
  if (stage !== 'sending') one.percent.textContent = ''
  if (one.note.textContent !== note) one.note.textContent = note
  one.note.className = isProblem ? 'problem' : ''
}

/** Sends it, after a look at what the server has. */
function proceed(one) {
  one.place = undefined
  tell(one, 'sending')
  advance()
}

/** Only one tab sends a file: the first, or the last one whose form is confirmed. Browsers know locks on HTTPS only. */
async function hold(one, options = { ifAvailable: true }) {
  const mine = Promise.withResolvers()
  one.hold = mine
  const work = (lock) => {
    if (!lock || one.hold !== mine) return
    proceed(one)
    return mine.promise
  }
  await (navigator.locks?.request(one.kept, options, work).catch(() => undefined) ?? work(true))
  if (one.hold !== mine) return
  // Another tab has it, and will finish or leave it.
  one.id ??= JSON.parse(localStorage.getItem(one.kept))?.id
  one.isConfirmed = false
  tell(one, 'waiting', TEXTS.elsewhere)
  one.request?.abort()
  settle()
  hold(one, {})
}

/** Sends the form with what was chosen. What was refused for its content stays so. */
function confirmUploads() {
  choose(input.files)
  if (uploads.length === 0) return Object.assign(input, { required: true }).reportValidity()
  form.ariaBusy = 'true'
  for (const one of uploads.filter(({ stage, id }) => stage !== 'refused' || !id)) {
    one.isConfirmed = true
    if (one.stage === 'sent') proceed(one)
    else if (one.stage !== 'sending') hold(one, { steal: true })
  }
  batch = uploads.filter(({ isConfirmed }) => isConfirmed).length
  settle()
}

/** Ends the confirmation when nothing that was confirmed is under way, and offers what one file only can have. What was refused stays. */
function settle(problems = '') {
  const open = uploads.filter(({ stage }) => stage !== 'refused')
  const isUnderWay = form.ariaBusy && open.some(({ isConfirmed }) => isConfirmed)
  const isShared = open.length > 1 || (isUnderWay && batch > 1)
  if (form.elements.name) hint.textContent = [isShared && TEXTS.several, isUnderWay && TEXTS.changeable].filter(Boolean).join(' ')
  // What one file only can have stays as it was when the form was sent, unless all others are cancelled.
  if (isUnderWay && isShared) return
  if (form.ariaBusy && !isUnderWay) {
    form.ariaBusy = null
    if (!problems && uploads.every(({ note }) => note.className === '')) form.reset()
    form.querySelector('[aria-invalid]')?.focus()
  }
  if (input.multiple) input.required = uploads.length === 0
  else input.disabled = uploads.length > 0
  const { name, chapters, captionLanguage, captionfile } = form.elements
  if (!name) return
  for (const field of [name, chapters, captionLanguage, captionfile]) field.disabled = isShared
  const file = open.length === 1 ? open[0].file : undefined
  if (file && ['', name.dataset.suggested].includes(name.value)) {
    name.dataset.suggested = titleOf(file)
    name.value = name.dataset.suggested
  }
  offerThumbnails(file)
}

async function advance() {
  const one = uploads.find(({ stage }) => stage === 'sending')
  if (isAtWork || !one) return
  isAtWork = true
  await step(one).catch((error) => one.stage === 'sending' && fail(one, error))
  isAtWork = false
  advance()
}

/** Ends an upload that is refused, or waits before the next try. */
async function fail(one, { message, status, isFinal, isOfForm }) {
  one.place = undefined
  if (status === 401) {
    uploads.length = 0
    keepTyped(form, `/login?next=${encodeURIComponent(location.pathname)}`)
  } else if (isFinal) {
    if (isOfForm) for (const other of uploads) other.isConfirmed = false
    tell(one, isOfForm ? 'sent' : 'refused', message, true)
    settle()
  } else {
    tell(one, 'sending', `${message} ${TEXTS.again}`)
    await new Promise((resolve) => {
      addEventListener('online', resolve, { once: true })
      setTimeout(resolve, PAUSE_MS)
    })
  }
}

async function step(one) {
  const { file, id, place } = one
  const isEnd = place + PIECE >= file.size
  if (isEnd && !one.isConfirmed) return tell(one, 'sent', TEXTS.waits)
  // It appears with the details of this form, whatever another one sent.
  if (!id || (isEnd && !one.isDetailed)) return await open(one)
  one.isDetailed = false
  const body = place === undefined ? undefined : await read(file.slice(place, place + PIECE))
  const answer = await put(one, { range: body && `${place}-${place + body.byteLength - 1}`, size: file.size, body })
  if (one.stage !== 'sending') return
  if (answer.status === 308) {
    one.place = answer.place
    tell(one, 'sending', one.note.textContent.startsWith(TEXTS.expired) ? TEXTS.expired : '')
  } else if (answer.isDone) {
    one.row.lastChild.remove()
    const rest = one.isConfirmed && answer.video ? await sendRest(one, answer.video.shortUUID) : ''
    tell(one, 'finished')
    one.bar.value = file.size
    one.note.append(...arrived(answer.video), rest)
    settle(rest)
  } else if (!answer.isUnknown) throw refusalOf(answer.status, answer.detail)
  // It may have ended in another tab.
  else if (body) one.place = undefined
  else {
    one.id = undefined
    throw new Error(TEXTS.expired)
  }
}

/** Opens the upload, or finds the open one of the same file. Before its end it takes the details; the form shows what is refused. */
async function open(one) {
  const { file, id } = one
  const { token, part, channelId } = form.elements
  one.fileId ??= await idOf(file)
  const details = id && detailsOf(one)
  const body = new URLSearchParams(details || { part: part.value, channelId: channelId?.value, name: titleOf(file), privacy: 3 })
  for (const [key, value] of Object.entries({ token: token.value, filename: file.name, fileId: one.fileId })) body.set(key, value)
  const headers = { 'x-upload-content-length': file.size, 'x-upload-content-type': file.type || 'application/octet-stream' }
  const answer = await send(one, { method: 'POST', url: form.action, headers, body })
  const page = await pageIn(new Response(answer.responseText))
  const found = answer.getResponseHeader('x-upload-id')
  if (id || !found) pageForms.mark(form, found ? undefined : page)
  if (!found) {
    // After a login in another tab the next try needs the new one.
    token.value = (page.querySelector('form [name="token"]') ?? token).value
    throw refusalOf(pathOf(answer.responseURL) === '/login' ? 401 : answer.status, saidIn(page), { isOfForm: Boolean(id) })
  }
  Object.assign(one, { id: found, details, isDetailed: Boolean(id), place: found === id ? one.place : undefined })
  if (one.stage === 'cancelled') await send(one, { method: 'DELETE' })
  else if (one.stage === 'sending') localStorage.setItem(one.kept, JSON.stringify({ id: found, name: file.name, size: file.size }))
}

function detailsOf({ file }) {
  const details = new URLSearchParams(new FormData(form))
  if (!details.get('name')) details.set('name', titleOf(file))
  return details.toString()
}

/** The same upload of another tab goes on. One that is being opened is removed afterwards. */
function cancel(one) {
  const isElsewhere = one.stage === 'waiting'
  if (one.isConfirmed) batch -= 1
  tell(one, 'cancelled')
  if (one.id && !isElsewhere) {
    one.request?.abort()
    send(one, { method: 'DELETE' }).catch(() => undefined)
  }
  one.row.remove()
  settle()
  input.focus()
}

function arrived(video) {
  const href = video ? `/my-library/videos/${video.shortUUID}` : pathOf(form.action)
  return [`${TEXTS.uploaded} `, make('a', { href }, video ? TEXTS.edit : TEXTS.back)]
}

/** Makes a request about an upload. Throws if the connection is lost, or nothing happens on it. */
function send(one, { method = 'PUT', url = `${form.dataset.upload}?upload_id=${one.id}`, headers, body }) {
  const { promise, resolve, reject } = Promise.withResolvers()
  const xhr = new XMLHttpRequest()
  one.request = xhr
  let timer
  const watch = (ms) => {
    clearTimeout(timer)
    timer = setTimeout(() => xhr.abort(), ms)
  }
  xhr.upload.onprogress = ({ loaded }) => {
    watch(SILENCE_MS)
    if (one.place === undefined) return
    one.bar.value = one.place + loaded
    one.percent.textContent = `${Math.floor((100 * one.bar.value) / one.file.size)} %`
  }
  xhr.upload.onload = () => watch(2 * SILENCE_MS)
  xhr.onload = () => resolve(xhr)
  xhr.onloadend = () => reject(new Error(TEXTS.lost), clearTimeout(timer))
  xhr.open(method, url)
  for (const [name, value] of Object.entries({ 'x-form-token': form.elements.token.value, ...headers })) xhr.setRequestHeader(name, value)
  xhr.send(body)
  watch(SILENCE_MS)
  return promise
}

/** Sends a piece, or asks for the place: the bytes that the server has. Returns the video when all have arrived. */
async function put(one, { range = '*', size, body }) {
  const answer = await send(one, { headers: { 'content-range': `bytes ${range}/${size}` }, body })
  const { status, responseText: text } = answer
  // Without a byte it is `bytes=0--1`.
  const place = Number(/=0-(-?\d+)$/.exec(answer.getResponseHeader('range') ?? '')?.[1] ?? -1) + 1
  const said = text.startsWith('{') && JSON.parse(text)
  return { ...said, status, place, isDone: status === 200 || status === 204, isUnknown: status === 403 || status === 404 }
}

/** Browsers do not read a file that has changed since it was chosen. */
const read = (part) =>
  part.arrayBuffer().catch(() => {
    throw refusalOf(400, TEXTS.changed)
  })

/** Tells files of the same name and size apart. Browsers hash on HTTPS only. */
async function idOf(file) {
  if (file.size === 0) throw refusalOf(400, TEXTS.empty)
  const ends = await read(new Blob([file.slice(0, SAMPLE), file.slice(-SAMPLE)]))
  const hash = await crypto.subtle?.digest('SHA-256', ends)
  return `${file.lastModified} ${btoa(String.fromCharCode(...new Uint8Array(hash ?? [])))}`
}

const titleOf = ({ name }) => /(.*?)(\.[^.]+)?$/.exec(name)[1].slice(0, 120).padEnd(3, '_')

/** Lets people choose one of some frames of the file, if this browser can play it. */
async function offerThumbnails(file) {
  const old = form.querySelector('.frames')
  if (old?.file === file) return
  old?.remove()
  if (!file) return
  const place = make('fieldset', { className: 'frames', file }, make('legend', {}, TEXTS.thumbnail), frameChoice(TEXTS.chosenByServer))
  place.querySelector('input').checked = true
  form.querySelector('.drop').after(place)
  const src = URL.createObjectURL(file)
  const video = make('video', { muted: true, src })
  try {
    await once(video, 'loadeddata')
    for (const share of FRAMES) {
      video.currentTime = share * video.duration
      await once(video, 'seeked')
      const scale = Math.min(1, FRAME_WIDTH / video.videoWidth)
      const canvas = make('canvas', { width: video.videoWidth * scale, height: video.videoHeight * scale })
      canvas.getContext('2d').drawImage(video, 0, 0, canvas.width, canvas.height)
      const seconds = Math.round(video.currentTime)
      const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
      place.append(frameChoice(canvas, TEXTS.pictureAt.replace('{time}', time)))
    }
  } catch {
    place.remove()
  } finally {
    // It may still be loading.
    video.removeAttribute('src')
    video.load()
    URL.revokeObjectURL(src)
  }
}

const frameChoice = (shown, ariaLabel = null) => make('label', {}, make('input', { type: 'radio', name: 'frame', ariaLabel }), ' ', shown)

const once = (target, kind) => new Promise((resolve, reject) => Object.assign(target, { [`on${kind}`]: resolve, onerror: reject }))

/** Sends by forms of the video's own page what the upload does not take, and what was typed since. Returns what was refused. */
async function sendRest(one, id) {
  const { name, token, chapters, captionLanguage, captionfile } = form.elements
  const canvas = form.querySelector('.frames :checked')?.parentElement.querySelector('canvas')
  const picture = canvas && new File([await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.9))], 'thumbnail.jpg')
  const parts = [
    picture && ['thumbnail', { thumbnailfile: picture }],
    chapters.value.trim() && ['chapters', { chapters: chapters.value, replaces: 'all' }, '/chapters'],
    captionfile.files[0] && ['caption', { captionLanguage: captionLanguage.value, captionfile: captionfile.files[0] }],
  ].filter((part) => part && !name.disabled)
  let problems = ''
  for (;;) {
    const details = detailsOf(one)
    if (details !== one.details) parts.push(['details', Object.fromEntries(new URLSearchParams(details))])
    one.details = details
    const [part, fields, below = ''] = parts.shift() ?? []
    if (!part) return problems
    const body = new FormData()
    for (const [name, value] of Object.entries({ ...fields, token: token.value, part })) body.set(name, value)
    const signal = AbortSignal.timeout(2 * SILENCE_MS)
    const answer = await fetch(`/my-library/videos/${id}${below}`, { method: 'POST', body, signal }).catch(() => undefined)
    const page = answer && (await pageIn(answer))
    if (!answer?.ok)
      problems += ` ${TEXTS.without.replace('{part}', TEXTS[part])} ${page?.querySelector('.problem[id]')?.textContent ?? ''}`
  }
}
