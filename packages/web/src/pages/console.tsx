import type { Range } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import type RFB from "@novnc/novnc"
import { useEffect, useRef } from "preact/hooks"
import { read, Refusal } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { Dialog, Field, Note, Refused, State, Text, useWindowTitle } from "../parts/parts.tsx"
import { patchRange } from "../range/patch.ts"
import { linkTo } from "../links.ts"
import { submitted } from "../parts/form.ts"
import { t } from "../texts.ts"

/** The keysym of a character: Latin-1 characters have their own numbers, others their Unicode number with a flag. */
const keysymOf = (character: string): number => {
  const code = character.codePointAt(0) ?? 0
  if (character === "\n") return 0xff0d
  if (character === "\t") return 0xff09
  return code < 0x100 ? code : 0x01000000 | code
}

const shift = 0xffe1
/** Characters that need Shift on a US keyboard; machines look at the keys. */
const isShifted = (character: string): boolean => /[A-Z~!@#$%^&*()_+{}|:"<>?]/u.test(character)

const type = async (rfb: RFB, text: string): Promise<void> => {
  for (const character of text) {
    const shifted = isShifted(character)
    if (shifted) rfb.sendKey(shift, "ShiftLeft", true)
    rfb.sendKey(keysymOf(character), null)
    if (shifted) rfb.sendKey(shift, "ShiftLeft", false)
    // a guest takes keys one after another, not a hundred at once
    await new Promise((resolve) => setTimeout(resolve, 8))
  }
}

/** The screen receives every key, including Tab: pressing and releasing Ctrl and Alt together, with no other key, leaves it. */
const leaveByKeys = (screen: HTMLElement, leave: () => void): void => {
  let isAsked = false
  const isModifier = ({ key }: KeyboardEvent): boolean => key === "Control" || key === "Alt"
  screen.addEventListener(
    "keydown",
    (event) => {
      isAsked = isModifier(event) && event.ctrlKey && event.altKey
    },
    { capture: true },
  )
  screen.addEventListener(
    "keyup",
    (event) => {
      // the machine is first told that both are released
      if (isAsked && isModifier(event) && !event.ctrlKey && !event.altKey) setTimeout(leave)
    },
    { capture: true },
  )
}

export const ConsolePage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const rangeId = values["id"] ?? ""
  const vmid = values["vmid"] ?? ""
  const range = useRead<Range>(
    "/range",
    { rangeID: rangeId },
    (event) => event.rangeID === rangeId && event.topic !== "run",
    patchRange,
  )
  const machine = range.data.value?.VMs.find(({ proxmoxID }) => String(proxmoxID) === vmid)
  const name = machine?.name ?? vmid
  const isOff = machine?.poweredOn === false
  const screen = useRef<HTMLDivElement>(null)
  const wayOut = useRef<HTMLAnchorElement>(null)
  const rfb = useRef<RFB | undefined>(undefined)
  const state = useSignal<"connecting" | "connected" | "ended">("connecting")
  const refusal = useSignal<Refusal | undefined>(undefined)
  /** Why the service closed the console; empty when it did not say. */
  const reason = useSignal("")
  const round = useSignal(0)
  const typing = useSignal(false)
  const scaled = useSignal(true)
  const lookOnly = useSignal(false)
  useEffect(() => {
    let isGone = false
    state.value = "connecting"
    refusal.value = undefined
    reason.value = ""
    const open = async (): Promise<void> => {
      try {
        const [{ default: Viewer }, { ticket, password }] = await Promise.all([
          import("@novnc/novnc"),
          read<{ readonly ticket: string; readonly password: string }>("/vm/console/ticket", { VMID: vmid }),
        ])
        if (isGone || screen.current === null) return
        const address = new URL("/api/v2/vm/console/view", location.href)
        address.protocol = address.protocol === "https:" ? "wss:" : "ws:"
        address.searchParams.set("ticket", ticket)
        const socket = new WebSocket(address)
        // the viewer tells only that it was closed
        socket.addEventListener("close", ({ reason: told }) => {
          if (!isGone) reason.value = told
        })
        const viewer = new Viewer(screen.current, socket, { credentials: { password }, shared: true })
        rfb.current = viewer
        viewer.scaleViewport = scaled.peek()
        viewer.viewOnly = lookOnly.peek()
        viewer.background = "transparent"
        viewer.addEventListener("connect", () => {
          state.value = "connected"
          viewer.focus()
        })
        viewer.addEventListener("disconnect", () => {
          if (!isGone) state.value = "ended"
        })
      } catch (error) {
        if (isGone) return
        state.value = "ended"
        refusal.value = error instanceof Refusal ? error : new Refusal(0, String(error))
      }
    }
    void open()
    return () => {
      isGone = true
      rfb.current?.disconnect()
      rfb.current = undefined
    }
  }, [vmid, round.value])
  useEffect(() => {
    if (screen.current !== null) leaveByKeys(screen.current, () => wayOut.current?.focus())
  }, [])
  const wasOff = useRef(false)
  useEffect(() => {
    if (wasOff.current && !isOff && state.value === "ended") round.value += 1
    wasOff.current = isOff
  }, [isOff, state.value])
  const heading = useWindowTitle()
  const isConnected = state.value === "connected"
  // the viewer passes on nothing while it only looks
  const mayType = isConnected && !lookOnly.value
  const isWaiting = isOff && state.value === "ended"
  return (
    <div class="console">
      <div class="console-bar">
        <h1 tabIndex={-1} ref={heading}>
          <Text>{t.console.title(name)}</Text>
        </h1>
        <State tone={isConnected ? "ok" : state.value === "ended" ? "quiet" : "busy"}>
          {isWaiting ? t.console.off : t.console[state.value]}
        </State>
        <span class="muted">{isConnected ? t.console.leave : null}</span>
        <span class="gap" />
        {state.value === "ended" && !isWaiting ? (
          <button type="button" class="primary small" onClick={() => (round.value += 1)}>
            {t.console.again}
          </button>
        ) : null}
        <button type="button" class="small" disabled={!mayType} onClick={() => rfb.current?.sendCtrlAltDel()}>
          {t.console.ctrlAltDel}
        </button>
        <button type="button" class="small" disabled={!mayType} onClick={() => (typing.value = true)}>
          {t.console.type}
        </button>
        <label class="check">
          <input
            type="checkbox"
            checked={scaled.value}
            onChange={({ currentTarget }) => {
              scaled.value = currentTarget.checked
              if (rfb.current !== undefined) rfb.current.scaleViewport = currentTarget.checked
            }}
          />
          {t.console.scale}
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={lookOnly.value}
            onChange={({ currentTarget }) => {
              lookOnly.value = currentTarget.checked
              if (rfb.current !== undefined) rfb.current.viewOnly = currentTarget.checked
            }}
          />
          {t.console.viewOnly}
        </label>
        <button type="button" class="small" onClick={() => void screen.current?.requestFullscreen()}>
          {t.console.fullscreen}
        </button>
        <a class="button small" ref={wayOut} href={linkTo("ranges", rangeId)}>
          {t.back}
        </a>
      </div>
      {isWaiting ? (
        <Note tone="quiet">{t.console.offText}</Note>
      ) : refusal.value !== undefined ? (
        <Refused refusal={refusal.value} />
      ) : reason.value === "" ? null : (
        <Note tone="warn" alert>
          <Text>{reason.value}</Text>
        </Note>
      )}
      <div class="screen" ref={screen} />
      <Dialog title={t.console.type} open={typing.value} onClose={() => (typing.value = false)}>
        <form
          onSubmit={(event) => {
            const text = submitted(event).text("text")
            typing.value = false
            if (rfb.current !== undefined) void type(rfb.current, text)
          }}
        >
          <Field label={t.console.typeLabel} hint={t.console.typeHint}>
            {(ids) => <textarea {...ids} name="text" rows={4} spellcheck={false} autocapitalize="none" />}
          </Field>
          <div class="actions end">
            <button type="button" onClick={() => (typing.value = false)}>
              {t.cancel}
            </button>
            <button type="submit" class="primary">
              {t.console.typeSend}
            </button>
          </div>
        </form>
      </Dialog>
    </div>
  )
}
