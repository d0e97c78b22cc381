// Spares reloads: forms are sent in the background and the page's content is replaced by the answer. Uploads go in pieces, and continue
// after a reload or a lost connection. Switches notifications of this device on and off. Without this script every form works by itself.

/** The texts, in the language of the page. */
const TEXTS = JSON.parse(document.querySelector('script[src*="/page-"]').dataset.texts)
const PIECE = 8 * 1024 * 1024
/** Bytes of each end of a file that it is known by. */
const SAMPLE = 1024 * 1024
const PATIENCE_MS = [1000, 3000, 10_000, 30_000]
/** Where thumbnails are offered from, as shares of the video. */
const FRAMES = [0.05, 0.25, 0.5, 0.75]
const FRAME_WIDTH = 1280
const PROGRESS_MS = 4000
/** In this browser: the user whom it notifies. */
const PUSHED = 'push'
/** In this tab: what was typed before a login. */
const TYPED = 'typed'

addEventListener('submit', (event) => {
  const form = event.target
  if (form.ariaBusy) return event.preventDefault()
  const question = event.submitter?.dataset.confirm
  if (question && !confirm(question)) return event.preventDefault()
  if (form.matches('[data-upload]')) {
    event.preventDefault()
    finishUploads(form)
  } else if (form.matches('[data-swap]') && event.submitter?.name !== 'preview') {
    event.preventDefault()
    swap(form, event.submitter)
  } else if (form.matches('[action="/logout"]') && localStorage.getItem(PUSHED)) {
    event.preventDefault()
    // The answer is read before the page goes.
    endPush(form.elements.token.value)
      .then((answer) => answer.text())
      .finally(() => form.submit())
  }
})

// Somebody may come back to the page as it was left.
addEventListener('pagehide', () => {
  for (const form of document.forms) form.ariaBusy = null
})

async function swap(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter))
  form.ariaBusy = 'true'
  try {
    const answer = await fetch(form.action, { method: 'POST', body, headers: { accept: 'text/html' } })
    if (pathOf(answer.url) === '/login') return askForLogin(form, answer.url)
    const page = await pageIn(answer)
    // Without the form it would take what was typed with it, such as a refusal of too many requests.
    if (!answer.ok && !page.querySelector(`[name="part"][value="${form.elements.part?.value}"]`)) return complain(form, page)
    show(page, answer.url, form.closest('[data-region]')?.id)
  } catch {
    // The browser does it, and says what is wrong.
    form.ariaBusy = null
    form.removeAttribute('data-swap')
    form.requestSubmit(submitter)
  }
}

/** For the return from a login that was asked for in between. Passwords are not kept. */
function askForLogin({ action, elements }, address) {
  const open = [...elements].filter(({ name, type }) => name && !['password', 'hidden', 'file', 'radio'].includes(type))
  const values = open.map((field) => [field.name, typedInto(field)])
  sessionStorage.setItem(TYPED, JSON.stringify({ path: pathOf(action), part: elements.part?.value, values }))
  location.assign(address)
}

function restoreTyped() {
  const { path, part, values } = JSON.parse(sessionStorage.getItem(TYPED) ?? '{}')
  const form = [...document.forms].find(({ elements }) => elements.part && elements.part.value === part)
  if (!form || path !== location.pathname) return
  sessionStorage.removeItem(TYPED)
  for (const [name, value] of values) {
    const field = form.elements.namedItem(name)
    if (field?.options) for (const option of field.options) option.selected = value.includes(option.value)
    else if (field) field[field.type === 'checkbox' ? 'checked' : 'value'] = value
  }
}

const typedInto = (field) => {
  if (field.options) return [...field.selectedOptions].map(({ value }) => value)
  return field.type === 'checkbox' ? field.checked : field.value
}

function complain(form, page) {
  form.ariaBusy = null
  form.querySelector('.refused')?.remove()
  const text = page.querySelector('[role="alert"]')?.textContent ?? page.title
  const problem = make('p', { className: 'problem refused', role: 'alert' }, text)
  form.prepend(problem)
  problem.scrollIntoView({ block: 'nearest' })
}

const pathOf = (address) => new URL(address, location.href).pathname
const pageIn = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html')

/** Replaces one region, or all of the content. */
function show(page, address, region) {
  const from = (region && page.getElementById(region)) || page.querySelector('main')
  const place = (region && page.getElementById(region) && document.getElementById(region)) || document.querySelector('main')
  if (!from || (!region && pathOf(address) !== location.pathname)) return location.assign(address)
  place.replaceWith(document.adoptNode(from))
  if (place.matches('main')) isTyped = false
  const problem = document.querySelector('[aria-invalid], [role="alert"], [role="status"]')
  if (problem?.matches('[aria-invalid]')) problem.focus()
  else problem?.scrollIntoView({ block: 'nearest' })
  document.querySelector('[autofocus]')?.focus()
  begin()
}

// Choosing all rows of a list.
function begin() {
  for (const heading of document.querySelectorAll('form table thead th:first-child .away')) {
    const all = make('input', { type: 'checkbox', ariaLabel: TEXTS.selectAll })
    all.addEventListener('change', () => {
      for (const box of all.form.querySelectorAll('[name="id"]')) box.checked = all.checked
    })
    heading.replaceWith(all)
  }
  for (const form of document.querySelectorAll('[data-upload]')) beginUpload(form)
  if (document.querySelector('[data-progress]')) lookLater()
  for (const form of document.querySelectorAll('[data-push]')) beginPush(form)
  restoreTyped()
}

/** True if somebody has typed since the page was shown. */
let isTyped = false
addEventListener('input', () => {
  isTyped = true
})

let nextLook
function lookLater() {
  clearTimeout(nextLook)
  nextLook = setTimeout(look, PROGRESS_MS)
}

/** Looks again while something is under way, and nobody types. */
async function look() {
  if (!document.querySelector('[data-progress]')) return
  const isIdle = () => !document.hidden && !document.activeElement?.closest('main form') && !isTyped
  const answer = isIdle() && (await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined))
  const page = answer?.ok && (await pageIn(answer))
  if (page && isIdle()) show(page, answer.url)
  else lookLater()
}

function beginUpload(form) {
  const input = form.querySelector('[type="file"]')
  // Archives and replacements are one file without a title.
  const name = form.elements.namedItem('name')
  input.multiple = name !== null
  if (name) name.required = false
  // The upload begins with the choice of files, and goes on while the details are typed.
  form.querySelector('label').before(input.labels[0], input)
  const place = make('div', { className: 'drop' }, TEXTS.drop)
  input.after(place)
  for (const kind of ['dragover', 'drop']) {
    place.addEventListener(kind, (event) => {
      event.preventDefault()
      const { files } = event.dataTransfer
      if (kind !== 'drop' || files.length === 0 || (files.length > 1 && !input.multiple)) return
      input.files = files
      choose()
    })
  }
  let suggested = ''
  const choose = () => {
    if (name) {
      name.disabled = input.files.length > 1
      offerThumbnails(form, input.files)
      if (name.value === suggested && input.files.length === 1) {
        suggested = titleOf(input.files[0])
        name.value = suggested
      }
    }
    beginUploads(form, input)
  }
  input.addEventListener('change', choose)
  const list = make('ul', { className: 'uploads', ariaLive: 'polite' })
  place.after(list)
  showUnfinished(form, list)
}

/** Uploads that were left: those to continue, and those whose end was not seen. */
async function showUnfinished({ dataset: { upload: path }, elements }, list) {
  for (const kept of Object.keys(localStorage).filter((key) => key.startsWith(`unfinished ${path} `))) {
    const { id, name, size } = JSON.parse(localStorage.getItem(kept))
    const answer = await placeOf({ path, id, size, token: elements.token.value }).catch(() => ({}))
    if (answer.status === 308) {
      const words = { name, percent: Math.floor((100 * placeIn(answer)) / size) }
      const hint = TEXTS.unfinished.replace(/\{(\w+)\}/g, (_all, word) => words[word])
      list.append(make('li', { className: 'left' }, hint))
    } else if (answer.status < 500) localStorage.removeItem(kept)
    if (isComplete(answer)) list.append(make('li', {}, name, ' ', ...arrived(videoIn(answer), path)))
  }
}

/** An element with its properties and content. */
function make(name, properties, ...content) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...content)
  return element
}

/** Lets people choose one of some frames of the file, if this browser can play it. */
async function offerThumbnails(form, files) {
  form.querySelector('.frames')?.remove()
  if (files.length !== 1) return
  const place = make('fieldset', { className: 'frames' }, make('legend', {}, TEXTS.thumbnail), frameChoice(TEXTS.chosenByServer))
  place.querySelector('input').checked = true
  form.querySelector('.drop').after(place)
  const src = URL.createObjectURL(files[0])
  const video = make('video', { muted: true, src })
  try {
    await once(video, 'loadeddata')
    for (const share of FRAMES) {
      video.currentTime = share * video.duration
      await once(video, 'seeked')
      const scale = Math.min(1, FRAME_WIDTH / video.videoWidth)
      const canvas = make('canvas', { width: video.videoWidth * scale, height: video.videoHeight * scale })
      canvas.getContext('2d').drawImage(video, 0, 0, canvas.width, canvas.height)
      const choice = place.appendChild(frameChoice(canvas))
      const seconds = Math.round(video.currentTime)
      const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
      choice.querySelector('input').ariaLabel = TEXTS.pictureAt.replace('{time}', time)
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

const frameChoice = (shown) => make('label', {}, make('input', { type: 'radio', name: 'frame' }), ' ', shown)

const once = (target, kind) =>
  new Promise((resolve, reject) => {
    target.addEventListener(kind, resolve, { once: true })
    target.addEventListener('error', reject, { once: true })
  })

/** Sends the chosen frame by the form of the video's own page. */
async function sendThumbnail(form, id, token) {
  const canvas = form.querySelector('.frames :checked')?.parentElement.querySelector('canvas')
  if (!canvas) return
  const body = new FormData()
  body.set('token', token)
  body.set('part', 'thumbnail')
  body.set('thumbnailfile', await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.9)), 'thumbnail.jpg')
  const answer = await fetch(`/my-library/videos/${id}`, { method: 'POST', body })
  await answer.text()
  if (!answer.ok) throw new Error(TEXTS.noThumbnail)
}

const titleOf = (file) =>
  file.name
    .replace(/\.[^.]+$/, '')
    .slice(0, 120)
    .padEnd(3, '_')

/** By form: its uploads. */
const uploads = new WeakMap()

/** Sends the chosen files but for their last pieces, which wait for the form. Another choice ends it. */
function beginUploads(form, { files }) {
  uploads.get(form)?.stop.abort()
  uploads.get(form)?.resolve()
  const list = form.querySelector('.uploads')
  list.replaceChildren()
  const one = { stop: new AbortController(), ...Promise.withResolvers() }
  uploads.set(form, one)
  one.end = uploadAll(form, [...files], list, one).finally(() => {
    one.isOver = true
  })
}

async function finishUploads(form) {
  form.ariaBusy = 'true'
  if (!uploads.has(form) || uploads.get(form).isOver) beginUploads(form, form.querySelector('[type="file"]'))
  const one = uploads.get(form)
  one.resolve()
  await one.end
  if (one.stop.signal.aborted) return
  uploads.delete(form)
  form.ariaBusy = null
  // Its details may be at fault.
  if (form.querySelector('.uploads .problem') && form.querySelector('[type="file"]').files.length === 1) return
  form.reset()
  form.querySelector('.frames')?.remove()
}

async function uploadAll(form, files, list, { stop: { signal }, promise: sent }) {
  const path = form.dataset.upload
  const { token } = form.elements
  for (const file of files) {
    const bar = make('progress', { max: file.size, ariaLabel: file.name })
    const text = make('span')
    const row = list.appendChild(make('li', {}, file.name, ' ', bar, ' ', text))
    try {
      const detailsOf = () => detailsIn(form, file, files)
      const video = await upload({ file, path, detailsOf, token: token.value, sent, signal }, (bytes, note) => {
        bar.value = bytes
        text.textContent = note ?? `${Math.floor((100 * bytes) / file.size)} %`
      })
      bar.value = file.size
      const problem =
        video && files.length === 1 && (await sendThumbnail(form, video.shortUUID, token.value).catch(() => TEXTS.noThumbnail))
      text.replaceChildren(...arrived(video, path), problem ? ` ${problem}` : '')
      row.dataset.done = ''
    } catch (error) {
      if (signal.aborted) return
      if (error.status === 401) return askForLogin(form, `/login?next=${encodeURIComponent(location.pathname)}`)
      text.textContent = error.message
      text.className = 'problem'
    }
  }
}

/** What the form says about a file, as JSON. */
function detailsIn(form, file, files) {
  const fields = [...new FormData(form)].filter(([, value]) => typeof value === 'string' && value !== '')
  const { token: _token, part: _part, frame: _frame, tags, ...typed } = Object.fromEntries(fields)
  if (tags) typed.tags = tags.match(/[^\s,](?:[^,]*[^\s,])?/g) ?? []
  return { ...typed, name: files.length === 1 && typed.name ? typed.name : titleOf(file), filename: file.name }
}

function arrived(video, path) {
  const href = video ? `/my-library/videos/${video.shortUUID}` : path.replace(/(\/source)?\/pieces.*/, '')
  return [`${TEXTS.uploaded} `, make('a', { href }, video ? TEXTS.edit : TEXTS.back)]
}

async function send(address, { token, headers, ...init }) {
  const answer = await fetch(address, { method: 'PUT', ...init, headers: { ...headers, 'x-form-token': token } })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

const placeOf = ({ path, id, size, token }) => send(`${path}?upload_id=${id}`, { token, headers: { 'content-range': `bytes */${size}` } })

/** Browsers do not read a file that has changed since it was chosen. */
const read = (part) =>
  part.arrayBuffer().catch(() => {
    throw Object.assign(new Error(TEXTS.changed), { isFinal: true })
  })

/** Tells files of the same name and size apart. Browsers hash on HTTPS only. */
async function idOf(file) {
  const ends = await read(new Blob([file.slice(0, SAMPLE), file.slice(-SAMPLE)]))
  const hash = await crypto.subtle?.digest('SHA-256', ends)
  return `${file.lastModified} ${btoa(String.fromCharCode(...new Uint8Array(hash ?? [])))}`
}

/** One file in pieces. The server knows an open upload by the file, keeps the place in it, and takes the present details. */
async function upload({ file, path, detailsOf, token, sent, signal }, tell) {
  const { name, size, type } = file
  if (size === 0) throw new Error(TEXTS.empty)
  const fileId = await idOf(file)
  const kept = `unfinished ${path} ${name} ${size} ${fileId}`
  let id
  let details
  let from = 0
  let tries = 0
  let restarts = 0
  while (true) {
    if (signal.aborted) {
      localStorage.removeItem(kept)
      if (id) await send(`${path}?upload_id=${id}`, { method: 'DELETE', token }).catch(() => undefined)
      signal.throwIfAborted()
    }
    try {
      if (!id) {
        const kind = type || 'application/octet-stream'
        const headers = { 'content-type': 'application/json', 'x-upload-content-length': size, 'x-upload-content-type': kind }
        details = JSON.stringify({ ...detailsOf(), fileId })
        const answer = await send(`${path}?uploadType=resumable`, { method: 'POST', token, body: details, headers })
        if (answer.status >= 400) throw refusalOf(answer)
        id = answer.headers.get('x-upload-id')
        localStorage.setItem(kept, JSON.stringify({ id, name, size }))
      }
      // It may have been open already.
      if (from === 0 || tries > 0) {
        const answer = await placeOf({ path, id, size, token })
        if (isComplete(answer)) return finish(answer, kept)
        if (answer.status === 308) from = placeIn(answer)
        if (answer.status === 404 || answer.status === 403) {
          id = null
          from = 0
          continue
        }
      }
      if (from + PIECE >= size) {
        tell(from, TEXTS.waits)
        await sent
        if (signal.aborted) continue
        if (details !== JSON.stringify({ ...detailsOf(), fileId })) {
          id = null
          continue
        }
      }
      tell(from)
      const body = await read(file.slice(from, from + PIECE))
      const headers = { 'content-range': `bytes ${from}-${from + body.byteLength - 1}/${size}` }
      const answer = await send(`${path}?upload_id=${id}`, { token, body, headers })
      if (isComplete(answer)) return finish(answer, kept)
      // It has expired while it waited.
      if ((answer.status === 403 || answer.status === 404) && restarts++ === 0) {
        id = null
        from = 0
        continue
      }
      if (answer.status !== 308) throw refusalOf(answer)
      from = placeIn(answer)
      tries = 0
    } catch (error) {
      if (error.isFinal) {
        if (error.status !== 401) localStorage.removeItem(kept)
        throw error
      }
      tell(from, TEXTS.lost)
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS[Math.min(tries++, PATIENCE_MS.length - 1)]))
    }
  }
}

/** Without a byte it is `bytes=0--1`. */
const placeIn = (answer) => Number(/=0-(-?\d+)$/.exec(answer.headers.get('range') ?? '')?.[1] ?? -1) + 1

const isComplete = ({ status }) => status === 200 || status === 204
const videoIn = ({ text }) => text && JSON.parse(text).video

function finish(answer, kept) {
  localStorage.removeItem(kept)
  return videoIn(answer)
}

/** Refusals are final; a server that is away or busy is not. */
function refusalOf(answer) {
  const { detail } = answer.text.startsWith('{') ? JSON.parse(answer.text) : {}
  const isFinal = answer.status < 500 && ![408, 409, 429].includes(answer.status)
  return Object.assign(new Error(detail || TEXTS.refused.replace('{status}', answer.status)), { isFinal, status: answer.status })
}

const subscription = async () => (await navigator.serviceWorker?.getRegistration('/'))?.pushManager?.getSubscription()

/** The switch of this device, if the browser can be notified. */
async function beginPush(form) {
  if (!navigator.serviceWorker || !window.PushManager) return
  const box = form.querySelector('[type="checkbox"]')
  // The other form is there if the server knows a device.
  const isKnown = document.querySelector('[value="no-push"]') && localStorage.getItem(PUSHED) === form.dataset.user
  box.checked = Boolean(isKnown && (await subscription()))
  box.closest('p').hidden = false
  box.onchange = async () => {
    box.disabled = true
    try {
      const token = form.elements.token.value
      const answer = box.checked ? await startPush(token, form.dataset) : await endPush(token)
      show(await pageIn(answer), answer.url)
    } catch (error) {
      box.checked = !box.checked
      form.querySelector('output').textContent = error.isFinal ? error.message : TEXTS.notNotified
    }
    box.disabled = false
  }
}

/** A subscription that is left of somebody else is not used again. */
async function startPush(token, { push, user }) {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error(TEXTS.notNotified)
  await navigator.serviceWorker.register(`/push-worker.js?${user}`)
  const { pushManager } = await navigator.serviceWorker.ready
  await (await pushManager.getSubscription())?.unsubscribe()
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: push })
  const { endpoint, keys } = made.toJSON()
  const answer = await sendDevice({ part: 'push', token, endpoint, ...keys })
  localStorage.setItem(PUSHED, user)
  return answer
}

async function endPush(token) {
  localStorage.removeItem(PUSHED)
  const known = await subscription()
  await known?.unsubscribe()
  // Without an endpoint all devices would be meant.
  return await sendDevice({ part: 'no-push', token, endpoint: known?.endpoint ?? 'none' })
}

async function sendDevice(fields) {
  const init = { method: 'POST', body: new URLSearchParams(fields), headers: { accept: 'text/html' } }
  const answer = await fetch('/my-account/settings', init)
  if (!answer.ok) throw Object.assign(new Error(TEXTS.refused.replace('{status}', answer.status)), { isFinal: true })
  return answer
}

begin()
