"""Words whose pronunciation their letters do not show, given by the two syllables that meet in them.

Chosen by hand from everyday words after the articles named below. A pair stands here only if it is
rare in words where it would be wrong (들일 of 들일 is also in 받아들일, so it is left out).
"""

# 제29항: compounds in which ㄴ (after ㄹ: ㄹ) comes in before 이, 야, 여, 요, 유.
N_INSERTED = """
꽃잎 뭇잎 깻잎 솔잎 풀잎 떡잎 찻잎 연잎 뱃잎 한여 첫여 늦여 신여 학여 물여 른여 열여 십육 색연 울역 남역 산역
릉역 청역 천역 홑이 맨입 행열 막염 콩엿 물엿 담요 눈요 업용 습용 성용 정용 행용 용유 발유 설익 물약 알약 통약
볼일 별일 웬일 밭일 뒷일 헛일 옛일 앞일 훗일
"""

# 제26항: Sino-Korean words with ㄷ, ㅅ, ㅈ after ㄹ.
TENSE_SINO = """
발전 발달 발생 발송 발주 발신 발사 발상 발성 발산 결정 결제 결석 결승 결산 결사 결심 결실 결선 결손 결점
활동 활성 활주 실제 실수 실시 실습 실적 실전 실장 실상 실속 실신 실재 실존 실종 실직 실질 실세 일정 일주 일시
일상 일생 일제 일종 일직 일단 일등 일동 설정 설득 설사 출시 출전 출산 출석 출장 출동 출생 출신 출제 출중
철도 철수 철저 철조 물질 물자 절대 절도 절전 절정 절실 절수 열정 열심 열세 열대 열성 월세 월동 질서 질소
질적 필수 필승 필자 밀접 밀도 밀수 별도 별세 칠십 팔십 갈등 갈증 말살 몰두 몰수 불소 불시 불신 불순 탈세
탈수 탈진 탈주 탈당 할당 할증 달성 혈당 골절 골동 굴절 돌진 멸종 솔직 솔선 술수 알선 율동 칠성
"""

# 제28항, and Sino-Korean words that dictionaries give with a tense onset (성격[성ː껵]).
TENSE_COMPOUNDS = """
눈동 신바 손재 길가 발바 굴속 술잔 람결 믐달 침밥 강가 승달 등불 창살 강줄 글자 손가 발가 눈사 김밥 빔밥
밤길 산길 물병 손등 손바 방바 일자 안방 문자 성격 인기 조건 사건 안건 문법 헌법 장점 단점 관점 시점 초점 요점
춤법 평가 물가 대가 정가 증권 여권 인권 정권 효과 내과 치과 외과 안과
"""

# Words that end in 의: there it is no particle (제5항 다만 4).
UI_AT_END = """
주의 회의 강의 논의 의의 동의 합의 협의 정의 문의 편의 예의 결의 거의 유의 심의 항의 명의 건의 호의 성의 제의
토의 질의 열의 고의 창의 본의 상의 수의 임의 전의 악의 진의 하의 경의 대의 모의 신의
"""
