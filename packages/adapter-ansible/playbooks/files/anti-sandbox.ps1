# Changes what Windows shows of the computer, and saves the original values so that they can be restored. Repeating it changes nothing.
# Originals are saved before anything is changed. A value that somebody else changed since, and a file that somebody wrote to, are left
# alone.
param([string] $Wanted = '', [string] $Program = '', [switch] $AtStart)
$ErrorActionPreference = 'Stop'

# only administrators may write there: SYSTEM runs and trusts its contents
$folder = Join-Path $env:ProgramFiles 'HwInventory'
$stateFile = Join-Path $folder 'state.json'
$wantedFile = Join-Path $folder 'wanted.json'
$programFile = Join-Path $folder 'apply.ps1'
$taskName = 'HwInventory'
$script:changed = $false

if ($AtStart) { $Wanted = Get-Content -Raw -LiteralPath $wantedFile }
$asked = $Wanted | ConvertFrom-Json

$state = [pscustomobject] @{ values = @(); files = @() }
if (Test-Path -LiteralPath $stateFile) {
    $kept = Get-Content -Raw -LiteralPath $stateFile | ConvertFrom-Json
    $state = [pscustomobject] @{ values = @($kept.values); files = @($kept.files) }
}

function Save-Text($path, $text) {
    if (-not (Test-Path -LiteralPath $folder)) { New-Item -ItemType Directory -Path $folder | Out-Null }
    if ((Test-Path -LiteralPath $path) -and [IO.File]::ReadAllText($path) -ceq $text) { return $false }
    [IO.File]::WriteAllText($path, $text)
    return $true
}

function Save-State { Save-Text $stateFile ($state | ConvertTo-Json -Depth 6) | Out-Null }

function Test-Same($one, $other) { (@($one) -join "`n") -ceq (@($other) -join "`n") }

function Read-Value($path, $name) {
    $key = Get-Item -LiteralPath $path -ErrorAction SilentlyContinue
    if (-not $key -or $key.GetValueNames() -notcontains $name) { return $null }
    return @{ value = $key.GetValue($name, $null, 'DoNotExpandEnvironmentNames'); kind = $key.GetValueKind($name).ToString() }
}

function Set-Shown($path, $name, $kind, $value) {
    $now = Read-Value $path $name
    $known = $state.values | Where-Object { $_.path -eq $path -and $_.name -eq $name } | Select-Object -First 1
    if ($known) { $known.shown = $value }
    else {
        $state.values += [pscustomobject] @{
            path = $path; name = $name; shown = $value
            existed = [bool] $now; value = $(if ($now) { $now.value }); kind = $(if ($now) { $now.kind } else { $kind })
        }
    }
    Save-State
    if ($now -and (Test-Same $now.value $value)) { return }
    if (-not (Test-Path -LiteralPath $path)) { New-Item -Path $path -Force | Out-Null }
    New-ItemProperty -LiteralPath $path -Name $name -PropertyType $kind -Value $value -Force | Out-Null
    $script:changed = $true
}

function Restore-Value($known) {
    $now = Read-Value $known.path $known.name
    if (-not $now -or -not (Test-Same $now.value $known.shown)) { return }
    if ($known.existed) {
        $value = $(if ($known.kind -eq 'MultiString') { [string[]] @($known.value) } else { $known.value })
        New-ItemProperty -LiteralPath $known.path -Name $known.name -PropertyType $known.kind -Value $value -Force | Out-Null
    }
    else { Remove-ItemProperty -LiteralPath $known.path -Name $known.name }
    $script:changed = $true
}

function Get-Hash($path) { (Get-FileHash -LiteralPath $path -Algorithm SHA256).Hash }

function Add-File($path, $text) {
    if (($state.files | Where-Object { $_.path -eq $path }) -or (Test-Path -LiteralPath $path)) { return }
    $bytes = [Text.Encoding]::UTF8.GetBytes($text)
    $hash = [BitConverter]::ToString([Security.Cryptography.SHA256]::Create().ComputeHash($bytes)).Replace('-', '')
    $state.files += [pscustomobject] @{ path = $path; hash = $hash }
    Save-State
    New-Item -ItemType Directory -Path (Split-Path $path) -Force | Out-Null
    [IO.File]::WriteAllBytes($path, $bytes)
    $script:changed = $true
}

function Remove-File($known) {
    if (-not (Test-Path -LiteralPath $known.path) -or (Get-Hash $known.path) -ne $known.hash) { return }
    Remove-Item -LiteralPath $known.path
    $script:changed = $true
}

# a function that appends to it needs this scope
$script:values = @()
function Want($path, $name, $kind, $value) { if ($null -ne $value) { $script:values += , @($path, $name, $kind, $value) } }

$files = @{}
if ($asked.disguised) {
    $system = 'HKLM:\HARDWARE\DESCRIPTION\System'
    Want $system 'SystemBiosVersion' 'MultiString' ([string[]] @($asked.bios))
    Want "$system\BIOS" 'BIOSVendor' 'String' $asked.manufacturer
    Want "$system\BIOS" 'BIOSVersion' 'String' $asked.bios
    # manufacturer and product of the system itself already come from the VM's own tables
    Want "$system\BIOS" 'BaseBoardManufacturer' 'String' $asked.manufacturer
    Want "$system\BIOS" 'BaseBoardProduct' 'String' $asked.product
    Want 'HKLM:\SYSTEM\CurrentControlSet\Control\SystemInformation' 'BIOSVersion' 'String' $asked.bios
    foreach ($processor in Get-ChildItem "$system\CentralProcessor") {
        $path = "$system\CentralProcessor\$($processor.PSChildName)"
        Want $path 'ProcessorNameString' 'String' $asked.processor_name
        Want $path 'VendorIdentifier' 'String' $asked.processor_vendor
        Want $path 'Identifier' 'String' $asked.processor_identifier
        Want $path '~MHz' 'DWord' $asked.processor_mhz
    }
    $windows = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
    Want $windows 'RegisteredOwner' 'String' $asked.owner
    Want $windows 'RegisteredOrganization' 'String' $asked.organization
    if (-not $AtStart) {
        if ($asked.drop_files) {
            $documents = [Environment]::GetFolderPath('MyDocuments')
            $files[(Join-Path $documents 'Meeting notes.txt')] = "Monday`r`n- budget for the second quarter`r`n- new phone list`r`n- holidays in August`r`n"
            $files[(Join-Path $documents 'Expenses.csv')] = "Date,What,Amount`r`n2024-03-04,Train,48.20`r`n2024-03-05,Hotel,119.00`r`n2024-03-06,Taxi,23.50`r`n"
            $files[(Join-Path $documents 'Shopping list.txt')] = "milk`r`nbread`r`ncoffee`r`nbatteries`r`n"
            $files[(Join-Path $documents 'Letter.rtf')] = '{\rtf1\ansi Dear Sir or Madam,\par thank you for your letter of 12 February.\par}'
        }
        if ($asked.browser_data) {
            $sites = [ordered] @{ News = 'https://www.bbc.com/'; Weather = 'https://www.weather.gov/'; Mail = 'https://outlook.live.com/'; Maps = 'https://www.openstreetmap.org/' }
            $n = 0
            foreach ($name in $sites.Keys) {
                $n += 1
                Want 'HKCU:\Software\Microsoft\Internet Explorer\TypedURLs' "url$n" 'String' $sites[$name]
                $files[(Join-Path ([Environment]::GetFolderPath('Favorites')) "$name.url")] = "[InternetShortcut]`r`nURL=$($sites[$name])`r`n"
            }
        }
    }
}

foreach ($value in $script:values) { Set-Shown $value[0] $value[1] $value[2] $value[3] }
if ($AtStart) { return }
foreach ($path in $files.Keys) { Add-File $path $files[$path] }

# revert what is no longer wanted
$isWanted = @{}
foreach ($value in $script:values) { $isWanted["$($value[0])\$($value[1])"] = $true }
foreach ($known in @($state.values | Where-Object { -not $isWanted["$($_.path)\$($_.name)"] })) {
    Restore-Value $known
    $state.values = @($state.values | Where-Object { $_ -ne $known })
    Save-State
}
foreach ($known in @($state.files | Where-Object { -not $files.ContainsKey($_.path) })) {
    Remove-File $known
    $state.files = @($state.files | Where-Object { $_ -ne $known })
    Save-State
}

$task = Get-ScheduledTask -TaskName $taskName -ErrorAction SilentlyContinue
if ($asked.disguised -and $asked.persist) {
    if (Save-Text $wantedFile $Wanted) { $script:changed = $true }
    if (Save-Text $programFile $Program) { $script:changed = $true }
    if (-not $task) {
        $run = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument "-NoProfile -NonInteractive -ExecutionPolicy Bypass -File `"$programFile`" -AtStart"
        Register-ScheduledTask -TaskName $taskName -Action $run -Trigger (New-ScheduledTaskTrigger -AtStartup) -User 'SYSTEM' -RunLevel Highest | Out-Null
        $script:changed = $true
    }
}
else {
    if ($task) {
        Unregister-ScheduledTask -TaskName $taskName -Confirm:$false
        $script:changed = $true
    }
    foreach ($path in $wantedFile, $programFile) { if (Test-Path -LiteralPath $path) { Remove-Item -LiteralPath $path } }
}
if (-not $asked.disguised -and (Test-Path -LiteralPath $folder)) {
    if (Test-Path -LiteralPath $stateFile) { Remove-Item -LiteralPath $stateFile }
    if (-not (Get-ChildItem -LiteralPath $folder)) { Remove-Item -LiteralPath $folder }
}
return @{ changed = $script:changed }
