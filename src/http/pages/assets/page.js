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
/** How often a waiting upload is kept open: the server ends those that are silent for long, and a laptop may sleep in between. */
const RENEWAL_MS = 120_000
/** In this browser: the user whom it notifies. */
const PUSHED = 'push'
/** In this tab: what was typed before a login. */
const TYPED = 'typed'

addEventListener('submit', (event) => {
  const form = event.target
  if (form.ariaBusy) return event.preventDefault()
  const question = event.submitter?.dataset.confirm
  if (question && !form.elements.confirmed) {
    if (!confirm(question)) return event.preventDefault()
    // The server reads what is before the files.
    form.prepend(make('input', { type: 'hidden', name: 'confirmed', value: 'true' }))
  }
  if (form.matches('[data-upload]')) {
    event.preventDefault()
    finishUploads(form)
  } else if (form.matches('[data-swap]') && event.submitter?.name !== 'preview') {
    event.preventDefault()
    swap(form, event.submitter)
  } else if (form.matches('[action="/logout"]') && localStorage.getItem(PUSHED)) {
    event.preventDefault()
    endPush(form.elements.token.value).finally(() => form.submit())
  } else forget(form)
})

// Somebody may come back to the page as it was left.
addEventListener('pagehide', () => {
  for (const form of document.forms) release(form)
})

/** It can be sent again, and asks again. */
function release(form) {
  form.ariaBusy = null
  form.elements.confirmed?.remove()
}

// Fields are marked as typed until they are sent; the server marks forms that it shows again with what was typed.
addEventListener('input', ({ target }) => {
  if (target.form?.elements.part) target.dataset.typed = ''
})

addEventListener('beforeunload', (event) => {
  if (document.querySelector('[data-typed]:not([name="id"])')) event.preventDefault()
})

function forget(form) {
  for (const marked of [form, ...form.querySelectorAll('[data-typed]')]) delete marked.dataset.typed
}

async function swap(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter))
  form.ariaBusy = 'true'
  try {
    const answer = await fetch(form.action, { method: 'POST', body, headers: { accept: 'text/html' } })
    const page = await pageIn(answer)
    release(form)
    if (pathOf(answer.url) === '/login') return askForLogin(form, answer.url)
    // Without the form it would take what was typed with it, such as a refusal of too many requests.
    if (!answer.ok && !page.querySelector(`[name="part"][value="${form.elements.part?.value}"]`)) return complain(form, page)
    show(page, answer.url, form)
  } catch {
    // The browser does it, and says what is wrong.
    form.ariaBusy = null
    form.removeAttribute('data-swap')
    form.requestSubmit(submitter)
  }
}

/** For the return from a login that was asked for in between. Passwords are not kept. */
function askForLogin(form, address) {
  const isOpen = ({ id, name, type }) => id && !/password/i.test(name) && !['password', 'file'].includes(type)
  const typed = ({ id, checked, value, selectedOptions = [] }) => [id, checked, value, [...selectedOptions].map((option) => option.value)]
  sessionStorage.setItem(TYPED, JSON.stringify({ path: pathOf(form.action), fields: [...form.elements].filter(isOpen).map(typed) }))
  forget(form)
  location.assign(address)
}

function restoreTyped() {
  const { path, fields } = JSON.parse(sessionStorage.getItem(TYPED) ?? '{}')
  if (path !== location.pathname) return
  sessionStorage.removeItem(TYPED)
  for (const [id, checked, value, chosen] of fields) {
    const field = document.getElementById(id)
    if (field?.options) for (const option of field.options) option.selected = chosen.includes(option.value)
    else if (field) Object.assign(field, { checked, value })
    if (field) field.dataset.typed = ''
  }
}

function complain(form, page) {
  form.querySelector('.refused')?.remove()
  const problem = make('p', { className: 'problem refused', role: 'alert' }, saidIn(page))
  form.prepend(problem)
  problem.scrollIntoView({ block: 'nearest' })
}

const saidIn = (page) => page.querySelector('[role="alert"]')?.textContent ?? page.title
const pathOf = (address) => new URL(address, location.href).pathname
const pageIn = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html')

/** Replaces the region of a sent form, or all of the content, but for what is typed into other forms. */
function show(page, address, sent) {
  const region = sent?.closest('[data-region]')?.id
  if (sent) forget(sent)
  const from = (region && page.getElementById(region)) || page.querySelector('main')
  const place = (region && page.getElementById(region) && document.getElementById(region)) || document.querySelector('main')
  if (!from || (!region && pathOf(address) !== location.pathname)) return location.assign(address)
  const typed = place.querySelectorAll('[data-typed][id], [data-typed] [id][name]')
  const focused = place.contains(document.activeElement) && document.activeElement
  place.replaceWith(document.adoptNode(from))
  begin()
  for (const field of typed) {
    document.getElementById(field.id)?.replaceWith(field)
    field.ariaInvalid = null
    field.dataset.typed = ''
  }
  const problem = document.querySelector('[aria-invalid], [role="alert"], [role="status"]')
  if (problem?.matches('[aria-invalid]')) return problem.focus()
  problem?.scrollIntoView({ block: 'nearest' })
  const moved = from.querySelector('[autofocus]')
  if (moved) moved.focus()
  else if (focused) returnFocus(from, focused, problem)
}

/** Focuses the control that was focused before its place was replaced, or else what is said. */
function returnFocus(place, focused, said) {
  const keyOf = ({ tagName, type, name, value, href, textContent, form }) =>
    JSON.stringify([tagName, name, /submit|checkbox|radio/.test(type) && value, href, textContent, form?.elements.part?.value])
  const key = keyOf(focused)
  const controls = [...place.querySelectorAll(':is(a, button, input, select, textarea, summary):not(:disabled)')]
  const twin = controls.find(({ id }) => id && id === focused.id) ?? controls.find((control) => keyOf(control) === key)
  const target = twin ?? said ?? place
  if (!twin) target.tabIndex = -1
  target.focus({ preventScroll: true })
}

/** Shows at the fields of a form what an answered page says about them, or nothing. */
function mark(form, page) {
  for (const field of form.querySelectorAll('[id][name]')) {
    document.getElementById(`${field.id}-refused`)?.remove()
    const note = page?.getElementById(field.id)?.ariaInvalid && page.getElementById(`${field.id}-note`)
    field.ariaInvalid = note ? 'true' : null
    if (!note) continue
    note.id = `${field.id}-refused`
    field.setAttribute('aria-describedby', `${field.id}-note ${note.id}`)
    field.after(note)
    field.closest('details')?.setAttribute('open', '')
  }
}

// The browser cannot say what is wrong with a field that is not shown.
addEventListener('invalid', ({ target }) => target.closest('details')?.setAttribute('open', ''), true)

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
  for (const form of document.querySelectorAll('[data-push]')) beginPush(form)
  restoreTyped()
}

/** Looks again while something is under way, and nobody types. */
async function look() {
  const isIdle = () =>
    document.querySelector('[data-progress]') && !document.hidden && !document.querySelector('[data-typed], main form :focus')
  const answer = isIdle() && (await fetch(location.href, { headers: { accept: 'text/html' } }).catch(() => undefined))
  const page = answer?.ok && (await pageIn(answer))
  setTimeout(look, PROGRESS_MS)
  if (page && isIdle()) show(page, answer.url)
}

function beginUpload(form) {
  const input = form.querySelector('[type="file"][required]')
  // Archives and replacements are one file without a title.
  const { name, chapters, captionLanguage, captionfile } = form.elements
  for (const place of form.querySelectorAll('[data-scripted]')) place.hidden = false
  captionfile?.addEventListener('change', () => {
    captionLanguage.required = captionfile.files.length > 0
  })
  input.multiple = Boolean(name)
  if (name) name.required = false
  // The upload begins with the choice of files, and goes on while the details are typed.
  form.querySelector('label').before(input.labels[0], input)
  const place = make('div', { className: 'drop' }, TEXTS.drop)
  input.after(place)
  place.addEventListener('dragover', (event) => event.preventDefault())
  place.addEventListener('drop', (event) => {
    event.preventDefault()
    const { files } = event.dataTransfer
    if (files.length === 0 || (files.length > 1 && !input.multiple)) return
    input.files = files
    choose()
  })
  let suggested = ''
  const choose = () => {
    if (name) {
      for (const field of [name, chapters, captionLanguage, captionfile]) field.disabled = input.files.length > 1
      offerThumbnails(form, input.files)
      if (name.value === suggested && input.files.length === 1) {
        suggested = titleOf(input.files[0])
        name.value = suggested
      }
    }
    beginUploads(form)
  }
  input.addEventListener('change', choose)
  const list = make('ul', { className: 'uploads', ariaLive: 'polite' })
  place.after(list)
  showUnfinished(form, list)
}

/** Uploads that were left: those to continue, and those whose end was not seen. Others run in another tab. */
async function showUnfinished(form, list) {
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  for (const kept of Object.keys(localStorage).filter((key) => key.startsWith(`unfinished ${form.dataset.upload} `))) {
    if (held.some(({ name }) => name === kept)) continue
    const { id, name, size } = JSON.parse(localStorage.getItem(kept))
    const { status, place, isComplete, said } = await send(form, id, { range: `*/${size}` }).catch(() => ({}))
    if (status === 308) {
      const hint = TEXTS.unfinished.replace('{percent}', Math.floor((100 * place) / size)).replace('{name}', () => name)
      list.append(make('li', { className: 'left' }, hint))
    } else if (status < 500) localStorage.removeItem(kept)
    if (isComplete) list.append(make('li', {}, name, ' ', ...arrived(said.video, form)))
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

/** Sends what the upload does not take by the forms of the video's own page. Returns what was refused. */
async function sendRest(form, id) {
  const { token, chapters, captionLanguage, captionfile } = form.elements
  const canvas = form.querySelector('.frames :checked')?.parentElement.querySelector('canvas')
  const picture = canvas && new File([await new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.9))], 'thumbnail.jpg')
  const parts = [
    picture && ['thumbnail', { thumbnailfile: picture }],
    chapters?.value.trim() && ['chapters', { chapters: chapters.value }],
    captionfile?.files[0] && ['caption', { captionLanguage: captionLanguage.value, captionfile: captionfile.files[0] }],
  ]
  let problems = ''
  for (const [part, fields] of parts.filter(Boolean)) {
    const body = new FormData()
    for (const [name, value] of Object.entries({ token: token.value, part, ...fields })) body.set(name, value)
    const answer = await fetch(`/my-library/videos/${id}`, { method: 'POST', body }).catch(() => undefined)
    const page = answer && (await pageIn(answer))
    if (!answer?.ok)
      problems += ` ${TEXTS.without.replace('{part}', TEXTS[part])} ${page?.querySelector('.problem[id]')?.textContent ?? ''}`
  }
  return problems
}

const titleOf = ({ name }) => /(.*?)(\.[^.]+)?$/.exec(name)[1].slice(0, 120).padEnd(3, '_')

/** By form: its uploads, while they are under way. */
const uploads = new WeakMap()

/** Sends the chosen files but for their last pieces, which wait for the form. Another choice ends it. */
function beginUploads(form) {
  const { files } = form.querySelector('[type="file"][required]')
  uploads.get(form)?.stop.abort()
  uploads.get(form)?.resolve()
  const list = form.querySelector('.uploads')
  for (const row of list.querySelectorAll('li:not([data-done])')) row.remove()
  const one = { stop: new AbortController(), ...Promise.withResolvers() }
  uploads.set(form, one)
  one.end = uploadAll(form, [...files], list, one).finally(() => uploads.get(form) === one && uploads.delete(form))
}

async function finishUploads(form) {
  form.ariaBusy = 'true'
  if (!uploads.has(form)) beginUploads(form)
  const one = uploads.get(form)
  one.resolve()
  await one.end
  if (one.stop.signal.aborted) return
  form.ariaBusy = null
  // Its details may be at fault.
  if (form.querySelector('.uploads .problem')) return form.querySelector('[aria-invalid]')?.focus()
  form.reset()
  forget(form)
  form.querySelector('.frames')?.remove()
}

/** Files that have arrived: those of the same choice may be sent again. */
const done = new WeakSet()

async function uploadAll(form, files, list, { stop: { signal }, promise: sent }) {
  for (const file of files.filter((file) => !done.has(file))) {
    const bar = make('progress', { max: file.size, ariaLabel: file.name })
    const text = make('span')
    const row = list.appendChild(make('li', {}, file.name, ' ', bar, ' ', text))
    try {
      const video = await upload({ file, form, isOnly: files.length === 1, sent, signal }, (bytes, note) => {
        bar.value = bytes
        text.textContent = note ?? `${Math.floor((100 * bytes) / file.size)} %`
      })
      done.add(file)
      bar.value = file.size
      row.dataset.done = ''
      text.replaceChildren(...arrived(video, form), video && files.length === 1 ? await sendRest(form, video.shortUUID) : '')
    } catch (error) {
      if (signal.aborted) return
      if (error.status === 401) return askForLogin(form, `/login?next=${encodeURIComponent(location.pathname)}`)
      text.textContent = error.message
      text.className = 'problem'
    }
  }
}

function arrived(video, form) {
  const href = video ? `/my-library/videos/${video.shortUUID}` : pathOf(form.action)
  return [`${TEXTS.uploaded} `, make('a', { href }, video ? TEXTS.edit : TEXTS.back)]
}

/** Sends a piece of an upload, asks for its place, or ends it. */
async function send(form, id, { range, ...init }) {
  const headers = { 'x-form-token': form.elements.token.value, ...(range && { 'content-range': `bytes ${range}` }) }
  const answer = await fetch(`${form.dataset.upload}?upload_id=${id}`, { method: 'PUT', headers, ...init })
  const text = await answer.text()
  const { status } = answer
  // Without a byte it is `bytes=0--1`.
  const place = Number(/=0-(-?\d+)$/.exec(answer.headers.get('range') ?? '')?.[1] ?? -1) + 1
  return { status, place, isComplete: status === 200 || status === 204, said: text.startsWith('{') ? JSON.parse(text) : {} }
}

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

/** Opens the upload, or finds the open one of the same file, which takes the details. Its form shows what is refused. */
async function open(form, { size, type }, body) {
  const headers = { 'x-upload-content-length': size, 'x-upload-content-type': type || 'application/octet-stream' }
  const answer = await fetch(form.action, { method: 'POST', body, headers })
  const page = await pageIn(answer)
  const id = answer.headers.get('x-upload-id')
  mark(form, id ? undefined : page)
  if (id) return id
  // After a login in another tab the next try needs the new one.
  form.elements.token.value = (page.querySelector('form [name="token"]') ?? form.elements.token).value
  throw refusalOf(pathOf(answer.url) === '/login' ? 401 : answer.status, saidIn(page))
}

/** One file in pieces. The server knows an open upload by the file, keeps the place in it, and takes the present details. */
async function upload(job, tell) {
  const { name, size } = job.file
  if (size === 0) throw new Error(TEXTS.empty)
  const fileId = await idOf(job.file)
  const kept = `unfinished ${job.form.dataset.upload} ${name} ${size} ${fileId}`
  const work = () => sendPieces({ ...job, fileId, kept }, tell)
  // Other tabs see that it is under way.
  return await (navigator.locks?.request(kept, { mode: 'shared' }, work) ?? work())
}

async function sendPieces({ form, file, isOnly, fileId, kept, sent, signal }, tell) {
  const { name, size } = file
  const present = () => {
    const details = new URLSearchParams(new FormData(form))
    if (!isOnly || !details.get('name')) details.set('name', titleOf(file))
    return `${details}&${new URLSearchParams({ filename: name, fileId })}`
  }
  const question = { range: `*/${size}` }
  let id
  let details
  let from = 0
  let isPlaced = false
  let tries = 0
  let restarts = 0
  while (true) {
    if (signal.aborted) {
      localStorage.removeItem(kept)
      if (id) await send(form, id, { method: 'DELETE' }).catch(() => undefined)
      signal.throwIfAborted()
    }
    try {
      if (!id) {
        details = present()
        id = await open(form, file, new URLSearchParams(details))
        localStorage.setItem(kept, JSON.stringify({ id, name, size }))
      }
      if (isPlaced && from + PIECE >= size) {
        tell(from, TEXTS.waits)
        const renewal = setInterval(() => send(form, id, question).catch(() => undefined), RENEWAL_MS)
        await sent
        clearInterval(renewal)
        if (!signal.aborted && details !== present()) id = undefined
        if (signal.aborted || !id) continue
      }
      tell(from)
      // It may have been open already.
      const body = isPlaced ? await read(file.slice(from, from + PIECE)) : undefined
      const piece = body && { range: `${from}-${from + body.byteLength - 1}/${size}`, body }
      const { status, place, isComplete, said } = await send(form, id, piece ?? question)
      if (isComplete) {
        localStorage.removeItem(kept)
        return said.video
      }
      isPlaced = status === 308
      if (isPlaced) from = place
      // It has expired.
      else if ((status === 403 || status === 404) && restarts++ < 3) id = undefined
      else throw refusalOf(status, said.detail)
      if (body) tries = 0
    } catch (error) {
      if (error.isFinal) {
        if (id && error.status !== 401) localStorage.removeItem(kept)
        throw error
      }
      isPlaced = false
      tell(from, TEXTS.lost)
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS[Math.min(tries++, PATIENCE_MS.length - 1)]))
    }
  }
}

/** Refusals are final; a server that is away or busy is not. */
function refusalOf(status, detail) {
  const isFinal = status < 500 && ![408, 409, 429].includes(status)
  return Object.assign(new Error(detail || TEXTS.refused.replace('{status}', status)), { isFinal, status })
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
      show(...(box.checked ? await startPush(token, form.dataset) : await endPush(token)))
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
  const { endpoint, keys } = (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: push })).toJSON()
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
  const headers = { accept: 'text/html' }
  const answer = await fetch('/my-account/settings', { method: 'POST', body: new URLSearchParams(fields), headers })
  if (!answer.ok) throw refusalOf(answer.status)
  return [await pageIn(answer), answer.url]
}

begin()
setTimeout(look, PROGRESS_MS)
